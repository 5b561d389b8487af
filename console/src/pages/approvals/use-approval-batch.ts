import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'
import { callOperation, errorMessage } from '../../api/http.ts'
import { approvalQuery, heldByReaderQuery, sessionQuery } from '../../api/queries.ts'
import type { Approval, JsonObject, Session } from '../../api/types.ts'
import { rememberBatch, useUndo } from './held-decisions.ts'
import { hasVoted, isApprover, isExcluded } from './may-decide.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.batch

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
  const [selected, setSelected] = useState<readonly Approval[]>([])
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, BatchOutcome>>(new Map())
  const [busy, setBusy] = useState(false)
  useEndOfHolds(busy ? NONE : outcomes, (approval) => setOutcomes((before) => withEnded(before, approval, session)))
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
    void queries.invalidateQueries({ queryKey: ['work'] })
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

const NONE: ReadonlyMap<string, BatchOutcome> = new Map()

/** Reads each approval of the batch that was held and is not held any more. */
function useEndOfHolds(outcomes: ReadonlyMap<string, BatchOutcome>, onEnd: (approval: Approval) => void): void {
  const queries = useQueryClient()
  const { data: held, dataUpdatedAt } = useQuery(heldByReaderQuery)
  const readEnded = useEffectEvent(() => {
    const isHeld = (id: string) => held?.some(({ approval_id }) => approval_id === id) ?? true
    // If the service is away, the next answer of the list leads to another attempt.
    for (const [id, { state }] of outcomes)
      if (state === 'held' && !isHeld(id))
        queries.fetchQuery({ ...approvalQuery(id), staleTime: 0 }).then(onEnd, () => {})
  })
  useEffect(() => readEnded(), [outcomes, dataUpdatedAt])
}

function withEnded(
  before: ReadonlyMap<string, BatchOutcome>,
  approval: Approval,
  session: Session | undefined,
): ReadonlyMap<string, BatchOutcome> {
  const id = approval.approval_id
  const ended = afterHold(approval, session)
  if (before.get(id)?.state !== 'held' || approval.held) return before
  // What was undone is forgotten, so that a later decision of another person is not taken for an approval of the reader.
  return new Map(ended ? [...before, [id, ended]] : [...before].filter(([one]) => one !== id))
}

/** What has become of an approval that was held. Null: it was undone. */
function afterHold(approval: Approval, session: Session | undefined): BatchOutcome | null {
  if (approval.status === 'approved') return { state: 'approved' }
  if (approval.status !== 'pending') return { state: 'failed', message: text.notApproved }
  return session && hasVoted(approval, session) ? { state: 'voted' } : null
}

async function decideApproval(
  { approval_id, payload_sha256 }: Approval,
  to: 'approve' | 'reject',
  given: JsonObject,
): Promise<BatchOutcome> {
  const id = approval_id
  try {
    const { decision } = await (to === 'approve'
      ? callOperation('approveApproval', { id, body: { ...given, payload_sha256 } })
      : callOperation('rejectApproval', { id, body: given }))
    return { state: decision === 'pending' ? 'voted' : decision }
  } catch (error) {
    return { state: 'failed', message: errorMessage(error) }
  }
}
