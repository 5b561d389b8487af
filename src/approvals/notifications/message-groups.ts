import type { NotificationMessageRow } from '../../platform/store/tables.ts'

/** Messages to one member through one service that are one message there: a single one, or all of a digest. */
export type MessageGroup = [NotificationMessageRow, ...NotificationMessageRow[]]

/** More messages than this to one member at once become a digest: people do not read them, and services refuse them. */
const MAX_SINGLE_MESSAGES = 10

/** Messages that wait, as they are sent. */
export function groupDueMessages(messages: readonly NotificationMessageRow[]): MessageGroup[] {
  const ofMembers = groupBy(messages, ({ project_id, member_id, kind }) => `${project_id} ${member_id} ${kind}`)
  return [...ofMembers.values()].flatMap((ofMember) =>
    ofMember.length > MAX_SINGLE_MESSAGES
      ? toGroups(ofMember, () => 'digest')
      : toGroups(ofMember, ({ id, is_digest }) => (is_digest === 1 ? 'digest' : id)),
  )
}

/** Messages that were sent, each digest once. */
export const groupSentMessages = (messages: readonly NotificationMessageRow[]): MessageGroup[] =>
  toGroups(messages, ({ id, is_digest, project_id, member_id, kind, external_id }) =>
    is_digest === 1 ? `${project_id} ${member_id} ${kind} ${external_id}` : id,
  )

const toGroups = (
  messages: readonly NotificationMessageRow[],
  keyOf: (message: NotificationMessageRow) => string,
): MessageGroup[] => [...groupBy(messages, keyOf).values()]

/** Messages with the same key, in the order in which they are given. */
export function groupBy(
  messages: readonly NotificationMessageRow[],
  keyOf: (message: NotificationMessageRow) => string,
): Map<string, MessageGroup> {
  const groups = new Map<string, MessageGroup>()
  for (const message of messages) {
    const key = keyOf(message)
    const group = groups.get(key)
    if (group) group.push(message)
    else groups.set(key, [message])
  }
  return groups
}
