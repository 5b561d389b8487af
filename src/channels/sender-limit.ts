import { countWithinHour } from '../accounts/rate-windows.ts'
import type { Tx } from '../ctx/ctx.ts'
import type { ReceivedMessage } from './messages.ts'
import { findTeamContact } from './sender-rows.ts'
import type { MessagePosition } from './thread-rows.ts'

/** Why a message waits for a person instead of starting a task. */
type WaitReason = 'held' | 'too_many_messages' | 'too_many_from_domain'

/**
 * Counts a message, and says why it starts no task; null: it starts one. A program that does not say that it is one would
 * otherwise be answered without end, and a stranger could start any number of paid runs, because every subject of a mail is
 * a thread of its own.
 */
export async function findWaitReason(
  tx: Tx,
  position: MessagePosition,
  received: ReceivedMessage,
): Promise<WaitReason | null> {
  if (position.held_by_kind !== null) return 'held'
  // The founder's own server decides itself what it posts to `/inbound`.
  if (received.isFromOwnServer) return null
  // Mails with a forged address count separately, so that they do not use up the limit of the client.
  const proof = received.verdict?.dmarc === 'pass' ? PROVED : ''
  const { senderRatePerHour, domainRatePerHour } = tx.config
  const { client_id, project_id } = position
  if ((await countWithinHour(tx, senderCounter(client_id) + proof)) > senderRatePerHour) return 'too_many_messages'
  const domain = mailDomain(received.from.handle ?? '')
  // Messages beyond the limit of their sender do not count here, and neither do those of people whom the team knows.
  if (domain === null || (await findTeamContact(tx.db, { client_id })).length > 0) return null
  const subject = `domain:${project_id}:${domain}${proof}`
  return (await countWithinHour(tx, subject)) > domainRatePerHour ? 'too_many_from_domain' : null
}

const PROVED = ' proved'
const senderCounter = (clientId: string) => `sender:${clientId}`

/** The counters of the messages of a client. */
export const senderCounters = (clientId: string): string[] => [
  senderCounter(clientId),
  senderCounter(clientId) + PROVED,
]

/**
 * The domain that somebody had to register, because subdomains cost nothing: `example.com` and `example.co.uk`. Without the
 * list of all public suffixes, a short name before the last dot counts as a part of the suffix.
 */
function mailDomain(handle: string): string | null {
  const [, domain] = /@([^@\s]+)$/.exec(handle.toLowerCase()) ?? []
  if (domain === undefined) return null
  const labels = domain.split('.')
  const isShort = (labels.at(-2) ?? '').length <= 3
  return labels.slice(isShort ? -3 : -2).join('.')
}
