import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { callApi, errorMessage } from '../../api/http.ts'
import type { Approval, JsonObject } from '../../api/types.ts'

export type BatchOutcome = { state: 'working' | 'approved' | 'rejected' } | { state: 'failed'; message: string }

export interface ApprovalBatch {
  selected: readonly Approval[]
  /** Empty until the member decides; from then on the selection is fixed. */
  outcomes: ReadonlyMap<string, BatchOutcome>
  busy: boolean
  select: (approvals: readonly Approval[]) => void
  decide: (to: 'approve' | 'reject', body: JsonObject) => Promise<void>
  clear: () => void
}

/** One decision for several approvals. Each is a separate call, so a failed one does not stop the others. */
export function useApprovalBatch(): ApprovalBatch {
  const queries = useQueryClient()
  const [selected, setSelected] = useState<readonly Approval[]>([])
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, BatchOutcome>>(new Map())
  const [busy, setBusy] = useState(false)
  const decide: ApprovalBatch['decide'] = async (to, body) => {
    setBusy(true)
    for (const { approval_id } of selected) {
      const setOutcome = (outcome: BatchOutcome) => setOutcomes((before) => new Map(before).set(approval_id, outcome))
      setOutcome({ state: 'working' })
      setOutcome(await decideApproval(approval_id, to, body))
    }
    setBusy(false)
    void queries.invalidateQueries({ queryKey: ['approvals'] })
    void queries.invalidateQueries({ queryKey: ['tasks'] })
  }
  return {
    selected,
    outcomes,
    busy,
    select: (approvals) => outcomes.size === 0 && setSelected(approvals),
    decide,
    clear() {
      setSelected([])
      setOutcomes(new Map())
    },
  }
}

async function decideApproval(id: string, to: 'approve' | 'reject', body: JsonObject): Promise<BatchOutcome> {
  try {
    await callApi(`/v1/approvals/${id}/${to}`, { method: 'POST', body })
    return { state: to === 'approve' ? 'approved' : 'rejected' }
  } catch (error) {
    return { state: 'failed', message: errorMessage(error) }
  }
}
