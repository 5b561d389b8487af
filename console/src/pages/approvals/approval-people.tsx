import { useQuery } from '@tanstack/react-query'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { sessionQuery } from '../../api/queries.ts'
import type { Approval, ApprovalDetail } from '../../api/types.ts'
import { useHasRole } from '../../ui/role.tsx'
import { actorName } from './actor-name.ts'
import { isOnlyForClient } from './may-decide.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.people

type WaitsFor = ApprovalDetail['waits_for']

/** Who has approved so far, who still may, and who is asked to decide. */
export function ApprovalPeople({ approval, waitsFor }: { approval: Approval; waitsFor: WaitsFor }) {
  return (
    <div className="flex flex-wrap items-center gap-x-5 gap-y-2 text-xs empty:hidden">
      <VoteCount approval={approval} waitsFor={waitsFor} />
      <Assignee approval={approval} waitsFor={waitsFor} />
      {approval.escalated_at && approval.status === 'pending' && <span className="text-wait">{text.escalated}</span>}
    </div>
  )
}

/** The votes if several people must approve, and who is missing. */
export function VoteCount({ approval, waitsFor }: { approval: Approval; waitsFor: WaitsFor }) {
  const { votes, needed, status } = approval
  const names = votes.map(({ by }) => actorName(by)).join(', ')
  if (needed === 1) return null
  return (
    <>
      <span className="rounded bg-wait-soft px-1.5 py-0.5 font-medium text-wait">
        {text.votes(votes.length, needed, names)}
      </span>
      {status === 'pending' && (
        <span className="min-w-0 break-words text-muted">
          {text.waitsFor(
            needed - votes.length,
            waitsFor.map(({ name }) => name),
          )}
        </span>
      )}
    </>
  )
}

/** The API shows the members to members only, so an API key sees the assignee and cannot choose one. */
function Assignee({ approval, waitsFor }: { approval: Approval; waitsFor: WaitsFor }) {
  const { data: session } = useQuery(sessionQuery)
  const isOperator = useHasRole()('operator')
  const canAssign = isOperator && approval.status === 'pending' && session?.member && !isOnlyForClient(approval)
  if (canAssign) return <AssigneeSelect approval={approval} waitsFor={waitsFor} />
  if (!approval.assignee) return null
  return (
    <span>
      <span className="text-muted">{text.assignee}:</span> {approval.assignee.name}
    </span>
  )
}

function AssigneeSelect({ approval: { approval_id, assignee }, waitsFor }: { approval: Approval; waitsFor: WaitsFor }) {
  const assign = useApiMutation(
    (to: string | null) => callOperation('updateApproval', { id: approval_id, body: { assignee: to } }),
    { invalidates: ['approvals'] },
  )
  // The assignee is shown before the others are loaded.
  const others = waitsFor.filter(({ id }) => id !== assignee?.id)
  return (
    <label className="flex items-center gap-2">
      <span className="text-muted">{text.assignee}</span>
      <select
        className="field h-7 w-44 py-0 text-xs"
        value={assignee?.id ?? ''}
        disabled={assign.isPending}
        onChange={(event) => assign.mutate(event.target.value || null)}
      >
        <option value="">{text.noAssignee}</option>
        {assignee && <option value={assignee.id}>{assignee.name}</option>}
        {others.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
