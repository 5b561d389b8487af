import { countInWindow, readWithinHour } from '../../identity/limits/rate-windows.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import type { ReceivedMessage } from './append-message.ts'
import { findTeamContact } from './sender-rows.ts'
import type { MessagePosition } from './thread-rows.ts'

/** Why a message waits for a person instead of starting a task. */
type WaitReason = 'held' | LimitReason
type LimitReason = 'too_many_messages' | 'too_many_from_domain' | 'too_many_unproved'

/**
 * Says why a message starts no task; null: it starts one, and counts. A program that does not say that it is one would
 * otherwise be answered without end, and a stranger could start any number of paid runs, because every subject of a mail is
 * a thread of its own. A message that waits does not count, so that new ones start tasks again after an hour.
 */
export async function findWaitReason(
  tx: Tx,
  position: MessagePosition,
  received: ReceivedMessage,
): Promise<WaitReason | null> {
  if (position.held_by_kind !== null) return 'held'
  // The founder's own server decides itself what it posts to `/inbound`.
  if (received.isFromOwnServer) return null
  const limits = await listLimits(tx, position, received)
  for (const { subject, max, reason } of limits) if ((await readWithinHour(tx, subject)) >= max) return reason
  for (const { subject } of limits) await countInWindow(tx, subject)
  return null
}

interface SenderLimit {
  subject: string
  max: number
  reason: LimitReason
}

/**
 * The limits that a message counts for. Anybody can write the address of a client into a mail, so mails without proof have
 * limits of their own, and cannot use up those of the client and of the domain.
 */
async function listLimits(tx: Tx, position: MessagePosition, received: ReceivedMessage): Promise<SenderLimit[]> {
  const { senderRatePerHour, domainRatePerHour } = tx.config
  const { client_id, channel_id, project_id } = position
  const [proved, unproved] = senderCounters(client_id)
  const subject = received.mayBeForged ? unproved : proved
  const sender = { subject, max: senderRatePerHour, reason: 'too_many_messages' } as const
  if (received.mayBeForged)
    return [sender, { subject: `unproved:${channel_id}`, max: domainRatePerHour, reason: 'too_many_unproved' }]
  const domain = mailDomain(received.from.handle ?? '')
  // People whom the team knows do not count for their domain.
  if (domain === null || (await findTeamContact(tx.db, { client_id })).length > 0) return [sender]
  return [sender, { subject: `domain:${project_id}:${domain}`, max: domainRatePerHour, reason: 'too_many_from_domain' }]
}

/** The counters of the proved and of the unproved messages of a client. */
export const senderCounters = (clientId: string) => [`sender:${clientId}`, `unproved:${clientId}`] as const

/** Under these names, which are not domains of anybody, everybody can register one. The list has those of most clients. */
const SHARED_SUFFIXES = new Set(
  `ac.at co.at or.at com.au edu.au gov.au id.au net.au org.au com.ar com.br net.br org.br com.cn net.cn org.cn com.co com.eg
  com.es com.hk co.id co.il org.il ac.in co.in net.in org.in ac.jp co.jp go.jp ne.jp or.jp co.ke co.kr or.kr com.mx org.mx
  com.my com.ng ac.nz co.nz govt.nz net.nz org.nz com.pe com.ph com.pk com.pl net.pl org.pl com.pt com.sa com.sg edu.sg
  co.th com.tr org.tr com.tw com.ua ac.uk co.uk gov.uk ltd.uk me.uk nhs.uk org.uk plc.uk sch.uk com.vn co.za org.za`.split(
    /\s+/,
  ),
)

/** The domain that somebody had to register, because subdomains cost nothing: `example.com` and `example.co.uk`. */
function mailDomain(handle: string): string | null {
  const [, domain] = /@([^@\s]+)$/.exec(handle.toLowerCase()) ?? []
  if (domain === undefined) return null
  const labels = domain.split('.')
  return labels.slice(SHARED_SUFFIXES.has(labels.slice(-2).join('.')) ? -3 : -2).join('.')
}
