import { useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { sessionQuery } from '../../api/queries.ts'
import { membersQuery } from '../../api/setup-queries.ts'
import type { Approval } from '../../api/types.ts'
import { useHasRole } from '../../ui/role.tsx'
import { actorName } from './actor-name.ts'
import { isOnlyForClient } from './may-decide.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.people

/** Who has approved so far, and who is asked to decide. */
export function ApprovalPeople({ approval }: { approval: Approval }) {
  return (
    <div className="flex flex-wrap items-center gap-x-5 gap-y-2 text-xs empty:hidden">
      {approval.needed > 1 && <VoteCount approval={approval} />}
      <Assignee approval={approval} />
      {approval.escalated_at && approval.status === 'pending' && <span className="text-wait">{text.escalated}</span>}
    </div>
  )
}

export function VoteCount({ approval: { votes, needed } }: { approval: Approval }) {
  const names = votes.map(({ by }) => actorName(by)).join(', ')
  return (
    <span className="rounded bg-wait-soft px-1.5 py-0.5 font-medium text-wait">
      {text.votes(votes.length, needed, names)}
    </span>
  )
}

/** The API shows the members to members only, so an API key sees the assignee and cannot choose one. */
function Assignee({ approval }: { approval: Approval }) {
  const { data: session } = useQuery(sessionQuery)
  const isOperator = useHasRole()('operator')
  const canAssign = isOperator && approval.status === 'pending' && session?.member && !isOnlyForClient(approval)
  if (canAssign) return <AssigneeSelect approval={approval} />
  if (!approval.assignee) return null
  return (
    <span>
      <span className="text-muted">{text.assignee}:</span> {approval.assignee.name}
    </span>
  )
}

function AssigneeSelect({ approval: { approval_id, assignee } }: { approval: Approval }) {
  const { data: members = [] } = useQuery(membersQuery)
  const assign = useApiMutation(
    (to: string | null) => callApi(`/v1/approvals/${approval_id}`, { method: 'PUT', body: { assignee: to } }),
    { invalidates: ['approvals'] },
  )
  const choices = members.filter(({ role, status }) => role !== 'viewer' && status === 'active')
  // The assignee is shown before the members are loaded.
  const others = choices.filter(({ id }) => id !== assignee?.id)
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
        {others.map(({ id, name, email }) => (
          <option key={id} value={id}>
            {name ?? email}
          </option>
        ))}
      </select>
    </label>
  )
}
