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
  // Mails whose address may be forged count separately, so that they do not use up the limit of the client.
  const proof = received.mayBeForged ? '' : PROVED
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
