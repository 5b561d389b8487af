import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call, messageOf } from '../../api/http.ts'
import type { Approval, JsonObject } from '../../api/types.ts'

export type Outcome = { state: 'working' | 'approved' | 'rejected' } | { state: 'refused'; why: string }

export interface Batch {
  picked: readonly Approval[]
  /** Empty until somebody decides; from then on what is picked stays as it is. */
  outcomes: ReadonlyMap<string, Outcome>
  busy: boolean
  pick: (approvals: readonly Approval[]) => void
  decide: (to: 'approve' | 'reject', body: JsonObject) => Promise<void>
  clear: () => void
}

/** Several approvals answered alike. Each is a call of its own: one that is refused does not hold up the others. */
export function useBatch(): Batch {
  const queries = useQueryClient()
  const [picked, setPicked] = useState<readonly Approval[]>([])
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map())
  const [busy, setBusy] = useState(false)
  const decide: Batch['decide'] = async (to, body) => {
    setBusy(true)
    for (const { approval_id } of picked) {
      const note = (outcome: Outcome) => setOutcomes((before) => new Map(before).set(approval_id, outcome))
      note({ state: 'working' })
      note(await answer(approval_id, to, body))
    }
    setBusy(false)
    void queries.invalidateQueries({ queryKey: ['approvals'] })
    void queries.invalidateQueries({ queryKey: ['tasks'] })
  }
  return {
    picked,
    outcomes,
    busy,
    pick: (approvals) => outcomes.size === 0 && setPicked(approvals),
    decide,
    clear() {
      setPicked([])
      setOutcomes(new Map())
    },
  }
}

async function answer(id: string, to: 'approve' | 'reject', body: JsonObject): Promise<Outcome> {
  try {
    await call(`/v1/approvals/${id}/${to}`, { method: 'POST', body })
    return { state: to === 'approve' ? 'approved' : 'rejected' }
  } catch (error) {
    return { state: 'refused', why: messageOf(error) }
  }
}
