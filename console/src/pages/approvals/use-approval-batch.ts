import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { callApi, errorMessage } from '../../api/http.ts'
import { sessionQuery } from '../../api/queries.ts'
import type { Approval, DecisionResult, JsonObject } from '../../api/types.ts'
import { batchTotals } from './batch-totals.ts'
import { holdDecision } from './held-decisions.ts'
import { isApprover, isExcluded } from './may-decide.ts'

/** `voted`: the approval was counted, and more people must approve. */
export type BatchOutcome =
  | { state: 'working' | 'approved' | 'rejected' | 'voted' }
  | { state: 'failed'; message: string }

export interface ApprovalBatch {
  selected: readonly Approval[]
  /** Empty until the decision is sent; from then on the selection is fixed. */
  outcomes: ReadonlyMap<string, BatchOutcome>
  busy: boolean
  /** Each question needs its own answer, and the reader may not decide about every request. */
  isSelectable: (approval: Approval) => boolean
  select: (approvals: readonly Approval[]) => void
  decide: (to: 'approve' | 'reject', body: JsonObject) => void
  clear: () => void
}

/**
 * One decision for several approvals. Each is a separate call, so a failed one does not stop the others. If one of them has
 * a high risk, the approval of all can be undone for five seconds.
 */
export function useApprovalBatch(): ApprovalBatch {
  const queries = useQueryClient()
  const { data: session } = useQuery(sessionQuery)
  const [selected, setSelected] = useState<readonly Approval[]>([])
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, BatchOutcome>>(new Map())
  const [busy, setBusy] = useState(false)
  const send = async (to: 'approve' | 'reject', body: JsonObject) => {
    setBusy(true)
    for (const approval of selected) {
      const { approval_id } = approval
      const setOutcome = (outcome: BatchOutcome) => setOutcomes((before) => new Map(before).set(approval_id, outcome))
      setOutcome({ state: 'working' })
      setOutcome(await decideApproval(approval, to, body))
    }
    setBusy(false)
    void queries.invalidateQueries({ queryKey: ['approvals'] })
    void queries.invalidateQueries({ queryKey: ['tasks'] })
  }
  const decide: ApprovalBatch['decide'] = (to, body) => {
    if (to === 'reject' || selected.every(({ risk }) => risk !== 'high')) {
      void send(to, body)
      return
    }
    const held = { approvalIds: selected.map(({ approval_id }) => approval_id), summary: batchTotals(selected) }
    setBusy(true)
    holdDecision(held, { send: () => void send(to, body), onUndo: () => setBusy(false) })
  }
  return {
    selected,
    outcomes,
    busy,
    isSelectable: (approval) =>
      approval.path !== 'question' && (!session || (isApprover(approval, session) && !isExcluded(approval, session))),
    select: (approvals) => !busy && outcomes.size === 0 && setSelected(approvals),
    decide,
    clear() {
      setSelected([])
      setOutcomes(new Map())
    },
  }
}

async function decideApproval(
  { approval_id, payload_sha256 }: Approval,
  to: 'approve' | 'reject',
  given: JsonObject,
): Promise<BatchOutcome> {
  const body = to === 'approve' ? { ...given, payload_sha256 } : given
  try {
    const { decision } = await callApi<DecisionResult>(`/v1/approvals/${approval_id}/${to}`, { method: 'POST', body })
    return { state: decision === 'pending' ? 'voted' : decision }
  } catch (error) {
    return { state: 'failed', message: errorMessage(error) }
  }
}
