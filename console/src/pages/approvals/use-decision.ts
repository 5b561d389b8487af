import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { callApi } from '../../api/http.ts'
import { approvalsQuery, sessionQuery } from '../../api/queries.ts'
import type { Approval, DecisionResult, JsonObject } from '../../api/types.ts'
import { showToast } from '../../ui/toast.tsx'
import { approvalSummary } from './approval-summary.ts'
import { holdDecision } from './held-decisions.ts'
import { hasVoted } from './may-decide.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.decision

export interface Decision {
  to: 'approve' | 'reject' | 'revise'
  body: { edited?: JsonObject; reason?: string; note?: string }
}

/** How a form sends its decision. */
export interface SendDecision {
  decide: (decision: Decision) => void
  isPending: boolean
  /** The reader has approved the payload, and more people must. */
  hasVoted: boolean
}

/**
 * Sends a decision and shows that it was made. An approval of high risk can be undone for five seconds before: `onDecided` is
 * called when it is made, and again when it is sent.
 */
export function useDecision(approval: Approval, onDecided: () => void): SendDecision {
  const queries = useQueryClient()
  const { data: session } = useQuery(sessionQuery)
  const { mutate, isPending } = useMutation({
    mutationFn: (decision: Decision) => sendDecision(approval, decision),
    onSuccess: (result, decision) => {
      if (result.decision === 'pending') {
        showToast(text.voted(result.votes.length, result.needed))
      } else {
        queries.setQueryData(approvalsQuery('pending').queryKey, (list) =>
          list?.filter(({ approval_id }) => approval_id !== approval.approval_id),
        )
        showToast(doneText(approval, decision))
      }
      onDecided()
    },
    // Also after an error, because another member may have decided first.
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['approvals'] })
      void queries.invalidateQueries({ queryKey: ['tasks'] })
    },
  })
  const decide = (decision: Decision) => {
    sendOrHold(approval, decision, () => mutate(decision))
    if (isHeldFirst(approval, decision)) onDecided()
  }
  return { decide, isPending, hasVoted: session !== undefined && hasVoted(approval, session) }
}

/** Sends a decision at once, or an approval of high risk after five seconds, unless it is undone. */
export function sendOrHold(approval: Approval, decision: Decision, send: () => void): void {
  if (!isHeldFirst(approval, decision)) return send()
  const edited = decision.body.edited ?? null
  const held = { approvalIds: [approval.approval_id], summary: approvalSummary({ ...approval, edited }) }
  holdDecision(held, { send })
}

/** The hash says which payload the member has read: an approval of another one is refused. */
function sendDecision({ approval_id, payload_sha256 }: Approval, { to, body: given }: Decision) {
  const body = to === 'approve' ? { ...given, payload_sha256 } : given
  return callApi<DecisionResult>(`/v1/approvals/${approval_id}/${to}`, { method: 'POST', body })
}

const isHeldFirst = ({ risk, path }: Approval, { to }: Decision) =>
  to === 'approve' && risk === 'high' && path !== 'question'

function doneText(approval: Approval, { to, body }: Decision): string {
  const edited = body.edited ?? null
  if (approval.path === 'question')
    return to === 'approve' ? approvalsText.question.answered : approvalsText.question.declined
  const summary = approvalSummary({ ...approval, edited })
  if (to === 'revise') return text.sentBack(summary)
  if (to === 'reject') return text.rejected(summary)
  return edited ? text.approvedWithEdits(summary) : text.approved(summary)
}
