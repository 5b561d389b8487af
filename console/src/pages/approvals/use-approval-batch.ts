import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { callApi, errorMessage } from '../../api/http.ts'
import type { Approval, JsonObject } from '../../api/types.ts'

export type BatchOutcome = { state: 'working' | 'approved' | 'rejected' } | { state: 'refused'; message: string }

export interface ApprovalBatch {
  selected: readonly Approval[]
  /** Empty until somebody decides; from then on what is selected stays as it is. */
  outcomes: ReadonlyMap<string, BatchOutcome>
  busy: boolean
  select: (approvals: readonly Approval[]) => void
  decide: (to: 'approve' | 'reject', body: JsonObject) => Promise<void>
  clear: () => void
}

/** Several approvals answered alike. Each is a call of its own: one that is refused does not hold up the others. */
export function useApprovalBatch(): ApprovalBatch {
  const queries = useQueryClient()
  const [selected, setSelected] = useState<readonly Approval[]>([])
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, BatchOutcome>>(new Map())
  const [busy, setBusy] = useState(false)
  const decide: ApprovalBatch['decide'] = async (to, body) => {
    setBusy(true)
    for (const { approval_id } of selected) {
      const note = (outcome: BatchOutcome) => setOutcomes((before) => new Map(before).set(approval_id, outcome))
      note({ state: 'working' })
      note(await decideApproval(approval_id, to, body))
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
    return { state: 'refused', message: errorMessage(error) }
  }
}
