export const CHANGE_KINDS = ['task', 'approval', 'case', 'thread'] as const

/** A row that a person may be looking at, with its new status. */
export interface ProjectChange {
  kind: (typeof CHANGE_KINDS)[number]
  id: string
  status: string
}

const TOPICS_WITH_ID = [
  /** The log of the task has new events. */
  'log-appended',
  /** The task has reached a terminal status. */
  'task-ended',
  /** The approval is no longer pending. */
  'approval-decided',
  'key-revoked',
  'member-removed',
  /** The id is the hash of the session token, which is what the store knows. */
  'session-ended',
  /** The portal access of the client was revoked. */
  'portal-revoked',
  /** The connection has new access tokens, or the attempt to get them failed. */
  'tokens-changed',
  /** A person has answered a form of an MCP call, or closed it; the id is that of the form. */
  'form-answered',
] as const

/** What a subscriber can wait for. */
export type Topic =
  | { topic: (typeof TOPICS_WITH_ID)[number]; id: string }
  /** Something in the project has a new status; the id is the project's. */
  | { topic: 'project-changed'; id: string }
  /** A task was queued and waits for a runner. */
  | { topic: 'task-queued' }
  | LocalTopic

/** Topics that concern one replica and are never sent to the others. */
type LocalTopic =
  /** This replica gave a task or an approval a new status. */
  | { topic: 'status-changed' }
  /** Open streams have to check again whether their reader is still authorized. */
  | { topic: 'recheck-streams' }

type WithChange = { topic: 'project-changed' | 'status-changed' }

/** A topic together with what changed, where the topic carries that. */
export type ChangeHint =
  | Exclude<Topic, WithChange>
  | { topic: 'project-changed'; id: string; change: ProjectChange }
  | { topic: 'status-changed'; projectId: string; change: ProjectChange }

/** A hint that the other replicas get as well. */
export type SharedHint = Exclude<ChangeHint, LocalTopic>

/** The key by which subscribers of a topic are found. */
export function topicKey(topic: Topic): string {
  return 'id' in topic ? `${topic.topic}:${topic.id}` : topic.topic
}

/** The text that LISTEN/NOTIFY carries. Ids and statuses contain neither colons nor blanks. */
export function encodeHint(hint: SharedHint): string {
  const key = topicKey(hint)
  if (hint.topic !== 'project-changed') return key
  const { kind, id, status } = hint.change
  return `${key}:${kind}:${id}:${status}`
}

/** Null for a text that another version of the service may have sent. */
export function decodeHint(text: string): SharedHint | null {
  const [name, id, changeKind, changeId, status] = text.split(':')
  if (name === 'task-queued') return { topic: name }
  if (!id) return null
  const topic = TOPICS_WITH_ID.find((one) => one === name)
  if (topic) return { topic, id }
  const kind = CHANGE_KINDS.find((one) => one === changeKind)
  if (name !== 'project-changed' || !kind || !changeId || !status) return null
  return { topic: name, id, change: { kind, id: changeId, status } }
}
