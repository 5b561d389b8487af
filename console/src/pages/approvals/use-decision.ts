import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { callOperation } from '../../api/http.ts'
import { useMutateOnce } from '../../api/mutation.ts'
import { approvalQuery, approvalsQuery, heldByReaderQuery, sessionQuery } from '../../api/queries.ts'
import type { Approval, DecisionResult, Schemas } from '../../api/types.ts'
import { showToast } from '../../ui/toast.tsx'
import { approvalSummary } from './approval-summary.ts'
import { rememberBatch } from './held-decisions.ts'
import { forgetDecisionTexts } from './kept-texts.ts'
import { hasVoted } from './may-decide.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.decision

export type Decision =
  | { to: 'approve'; body: Schemas.ApproveApprovalRequest }
  | { to: 'reject'; body: Schemas.RejectApprovalRequest }
  | { to: 'revise'; body: Schemas.ReviseApprovalRequest }

/** How a form sends its decision. */
export interface SendDecision {
  decide: (decision: Decision) => void
  isPending: boolean
  /** The reader has approved the payload, and more people must. */
  hasVoted: boolean
}

/**
 * Sends a decision and shows that it was made. The service holds an approval of high risk for five seconds, in which it can be
 * undone; the page goes on at once.
 */
export function useDecision(approval: Approval, onDecided: () => void): SendDecision {
  const queries = useQueryClient()
  const { data: session } = useQuery(sessionQuery)
  const { mutate, isPending } = useMutation({
    mutationFn: (decision: Decision) => sendDecision(approval, decision),
    onSuccess: (result, decision) => {
      const { approval_id: id } = approval
      forgetDecisionTexts(approval)
      if (result.decision === 'held') {
        rememberBatch([id])
        const withHeld = <T extends Approval>(one: T): T =>
          one.approval_id === id ? { ...one, held: result.held } : one
        queries.setQueryData(approvalsQuery('pending').queryKey, (list) => list?.map(withHeld))
        queries.setQueryData(approvalQuery(id).queryKey, (one) => one && withHeld(one))
        queries.setQueryData(heldByReaderQuery.queryKey, (list) => list && [...list, withHeld(approval)])
      } else if (result.decision === 'pending') {
        showToast(text.voted(result.votes.length, result.needed))
      } else {
        queries.setQueryData(approvalsQuery('pending').queryKey, (list) =>
          list?.filter(({ approval_id }) => approval_id !== id),
        )
        showToast(doneText(approval, decision))
      }
      onDecided()
    },
    // Also after an error, because another member may have decided first.
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['approvals'] })
      void queries.invalidateQueries({ queryKey: ['tasks'] })
      void queries.invalidateQueries({ queryKey: ['work'] })
    },
  })
  return { decide: useMutateOnce(mutate), isPending, hasVoted: session !== undefined && hasVoted(approval, session) }
}

function sendDecision(approval: Approval, { to, body }: Decision): Promise<DecisionResult> {
  const id = approval.approval_id
  if (to === 'reject') return callOperation('rejectApproval', { id, body })
  if (to === 'revise') return callOperation('reviseApproval', { id, body })
  return callOperation('approveApproval', { id, body: { ...body, ...approvedAs(approval) } })
}

/** The hash says which payload the member has read: an approval of another one is refused. */
export const approvedAs = (approval: Approval) => ({
  payload_sha256: approval.payload_sha256,
  ...(approval.hold_s > 0 && { hold_s: approval.hold_s }),
})

function doneText(approval: Approval, { to, body }: Decision): string {
  const edited = to === 'approve' ? (body.edited ?? null) : null
  if (approval.path === 'question')
    return to === 'approve' ? approvalsText.question.answered : approvalsText.question.declined
  const summary = approvalSummary({ ...approval, edited })
  if (to === 'revise') return text.sentBack(summary)
  if (to === 'reject') return text.rejected(summary)
  return edited ? text.approvedWithEdits(summary) : text.approved(summary)
}
