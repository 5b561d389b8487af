import { toObject } from '../../api/json.ts'
import type { Approval } from '../../api/types.ts'
import { TimeAgo } from '../../ui/time.tsx'
import { actorName } from './actor-name.ts'
import { PayloadDiffView } from './payload-diff-view.tsx'
import { approvalsText } from './text.ts'

/** What was decided, by whom and when, and what was changed. */
export function DecisionDetails({ approval }: { approval: Approval }) {
  const { status, decided_at, reason, note, edited } = approval
  if (status === 'pending') return <p className="text-muted">{approvalsText.timeIsUp}</p>
  return (
    <div className="flex flex-col gap-2 text-muted">
      {edited && approval.path !== 'question' && (
        <PayloadDiffView payload={toObject(approval.preview)} edited={edited} amount={approval.amount} />
      )}
      <p>
        {decisionText(approval)} · {decided_at && <TimeAgo ts={decided_at} />}
      </p>
      {(reason ?? note) && <p>“{reason ?? note}”</p>}
    </div>
  )
}

function decisionText({ status, revise, decided_by, votes }: Approval): string {
  if (status === 'expired') return approvalsText.expired
  if (status === 'auto_approved') return approvalsText.autoApproved
  if (!decided_by) return ''
  if (decided_by.kind === 'system') return approvalsText.endedByService
  // The last of several approvers is the one who decided.
  const names = [...new Set([...votes.map(({ by }) => actorName(by)), actorName(decided_by)])].join(', ')
  if (status === 'approved') return approvalsText.approvedBy(names)
  return revise ? approvalsText.sentBackBy(actorName(decided_by)) : approvalsText.rejectedBy(actorName(decided_by))
}
