import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMatchRoute, useNavigate } from '@tanstack/react-router'
import { callOperation } from '../../api/http.ts'
import { heldByReaderQuery } from '../../api/queries.ts'
import type { Approval, Schemas } from '../../api/types.ts'
import { batchTotals } from './batch-totals.ts'
import { approvalSummary } from './approval-summary.ts'
import { keepUndoneEdit } from './kept-edits.ts'

export type Held = Schemas.HeldApproval

/** Approvals that the reader can undo with one button. */
export interface HeldDecision {
  approvalIds: readonly string[]
  summary: string
  held: Held
}

/** The approvals that were made together in this tab. After a reload those that are held have one button. */
const batches: (readonly string[])[] = []

export const rememberBatch = (approvalIds: readonly string[]): void => void batches.push(approvalIds)

/** What the reader has approved and can still undo, oldest first. The service holds it, so a reload loses nothing. */
export function useHeldDecisions(): HeldDecision[] {
  const { data: own = [] } = useQuery(heldByReaderQuery)
  const groups = Map.groupBy(own, ({ approval_id: id }) => batches.findLast((ids) => ids.includes(id)) ?? null)
  return [...groups.values()]
    .flatMap((approvals) => toDecision(approvals) ?? [])
    .toSorted((a, b) => a.held.until.localeCompare(b.held.until))
}

function toDecision(approvals: readonly Approval[]): HeldDecision | null {
  const [first] = approvals.toSorted((a, b) => (a.held?.until ?? '').localeCompare(b.held?.until ?? ''))
  if (!first?.held) return null
  const approvalIds = approvals.map(({ approval_id }) => approval_id)
  const summary = approvals.length > 1 ? batchTotals(approvals) : approvalSummary(first)
  return { approvalIds, summary, held: first.held }
}

/** Withdraws approvals that are held. A service that has made one already says so. */
export function useUndo() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const matchRoute = useMatchRoute()
  return useMutation({
    mutationFn: (approvalIds: readonly string[]) => {
      const own = queries.getQueryData(heldByReaderQuery.queryKey) ?? []
      for (const approval of own) if (approvalIds.includes(approval.approval_id)) keepUndoneEdit(approval)
      return Promise.all(approvalIds.map((id) => callOperation('deleteHeldApproval', { id })))
    },
    // The page shows the next approval by now, and its buttons are where those of this one were.
    onSuccess: (_, [id, ...others]) => {
      if (id === undefined || others.length > 0 || !matchRoute({ to: '/approvals' })) return
      void navigate({ to: '/approvals', search: { id } })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['approvals'] }),
  })
}
