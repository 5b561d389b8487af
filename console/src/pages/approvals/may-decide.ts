import { type Approval, ROLES, type Session } from '../../api/types.ts'
import { clientName } from '../../ui/client-name.ts'

/** The member or key of this session. */
type Reader = Pick<Session, 'role'> & {
  member: { id: string; email: string } | null
  key: { id: string } | null
}

/** Whether the approvers include this member or key. A role means that role or a higher one. The server decides again. */
export function isApprover({ approvers }: Pick<Approval, 'approvers'>, { role, member }: Reader): boolean {
  if (approvers === null) return true
  const roles = ROLES.slice(0, ROLES.indexOf(role) + 1)
  return approvers.some(
    (one) =>
      roles.some((own) => own === one) || one === member?.id || one.toLowerCase() === member?.email.toLowerCase(),
  )
}

/** Whether the member or key started the task and may therefore not decide. */
export const isExcluded = (
  { exclude_requester, context }: Pick<Approval, 'exclude_requester' | 'context'>,
  { member, key }: Reader,
): boolean => exclude_requester && context.requested_by?.id === (member?.id ?? key?.id)

/** Whether this is the member or key of the session. */
export const isReader = ({ id }: { id: string }, { member, key }: Pick<Reader, 'member' | 'key'>): boolean =>
  id === (member?.id ?? key?.id)

/** Whether the member or key has approved the payload that is shown. */
export const hasVoted = ({ votes }: Pick<Approval, 'votes'>, reader: Reader): boolean =>
  votes.some(({ by }) => isReader(by, reader))

/** The word for the client of the task among the approvers. */
const CLIENT = 'client'

/** What waits for the client, who decides in the portal: nothing, the decision, or one of several. */
export function askedOfClient({ approvers, status, votes }: Pick<Approval, 'approvers' | 'status' | 'votes'>) {
  const isAsked = status === 'pending' && approvers?.includes(CLIENT) && !votes.some(({ by }) => by.kind === CLIENT)
  if (!isAsked) return null
  return isOnlyForClient({ approvers }) ? 'alone' : 'with others'
}

/** Whether no member may decide. */
export const isOnlyForClient = ({ approvers }: Pick<Approval, 'approvers'>): boolean =>
  approvers?.every((one) => one === CLIENT) ?? false

/** The approvers in words: the client by its name. */
export const approverNames = ({ approvers, context }: Pick<Approval, 'approvers' | 'context'>): string[] =>
  (approvers ?? []).map((one) => (one === CLIENT ? clientName(context.client?.name) : one))
