import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { callApi, errorMessage } from '../../api/http.ts'
import { approvalsQuery, sessionQuery } from '../../api/queries.ts'
import type { Approval, DecisionResult, JsonObject, Session } from '../../api/types.ts'
import { rememberBatch, useUndo } from './held-decisions.ts'
import { hasVoted, isApprover, isExcluded } from './may-decide.ts'

/** `held`: it can still be undone. `voted`: the approval was counted, and more people must approve. */
export type BatchOutcome =
  | { state: 'working' | 'held' | 'approved' | 'rejected' | 'voted' }
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
  /** Withdraws those that are held. */
  undo: () => void
  clear: () => void
}

/**
 * One decision for several approvals. Each is a separate call, so a failed one does not stop the others. If one of them has
 * a high risk, the service holds the approval of all, and all can be undone together for five seconds.
 */
export function useApprovalBatch(): ApprovalBatch {
  const queries = useQueryClient()
  const { data: session } = useQuery(sessionQuery)
  const { data: pending } = useQuery(approvalsQuery('pending'))
  const [selected, setSelected] = useState<readonly Approval[]>([])
  const [sent, setOutcomes] = useState<ReadonlyMap<string, BatchOutcome>>(new Map())
  const [busy, setBusy] = useState(false)
  const outcomes = busy || !pending ? sent : settleHolds(sent, pending, session)
  // What was undone is forgotten, so that a later decision of another person is not taken for an approval of the reader.
  if (outcomes.size < sent.size) setOutcomes(outcomes)
  const decide = async (to: 'approve' | 'reject', body: JsonObject) => {
    setBusy(true)
    const hold_s = to === 'approve' ? Math.max(0, ...selected.map((approval) => approval.hold_s)) : 0
    rememberBatch(selected.map(({ approval_id }) => approval_id))
    const send = async (approval: Approval) => {
      const { approval_id } = approval
      const setOutcome = (outcome: BatchOutcome) => setOutcomes((before) => new Map(before).set(approval_id, outcome))
      setOutcome({ state: 'working' })
      setOutcome(await decideApproval(approval, to, { ...body, ...(hold_s > 0 && { hold_s }) }))
    }
    // Together, so that all of them are held for the same seconds.
    if (hold_s > 0) await Promise.all(selected.map(send))
    else for (const approval of selected) await send(approval)
    await queries.invalidateQueries({ queryKey: ['approvals'] })
    void queries.invalidateQueries({ queryKey: ['tasks'] })
    setBusy(false)
  }
  const undo = useUndo()
  return {
    selected,
    outcomes,
    busy,
    isSelectable: (approval) =>
      approval.path !== 'question' &&
      !approval.held &&
      (!session || (isApprover(approval, session) && !isExcluded(approval, session))),
    select: (approvals) => !busy && outcomes.size === 0 && setSelected(approvals),
    decide: (to, body) => void decide(to, body),
    undo() {
      const ids = selected.flatMap(({ approval_id: id }) => (outcomes.get(id)?.state === 'held' ? [id] : []))
      // Forgotten, because a later decision of another member would look like the end of the hold.
      const forget = () => setOutcomes((before) => new Map([...before].filter(([id]) => !ids.includes(id))))
      undo.mutate(ids, { onSuccess: forget })
    },
    clear() {
      setSelected([])
      setOutcomes(new Map())
    },
  }
}

function settleHolds(
  sent: ReadonlyMap<string, BatchOutcome>,
  pending: readonly Approval[],
  session: Session | undefined,
): ReadonlyMap<string, BatchOutcome> {
  const byId = new Map(pending.map((approval) => [approval.approval_id, approval]))
  return new Map(
    [...sent].flatMap(([id, outcome]) => {
      const now = afterHold(outcome, byId.get(id), session)
      return now ? [[id, now] as const] : []
    }),
  )
}

/** What has become of an approval that was held when it was sent: the list of pending ones says it. Null: it was undone. */
function afterHold(
  outcome: BatchOutcome,
  now: Approval | undefined,
  session: Session | undefined,
): BatchOutcome | null {
  if (outcome.state !== 'held' || now?.held) return outcome
  if (!now) return { state: 'approved' }
  return session && hasVoted(now, session) ? { state: 'voted' } : null
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
