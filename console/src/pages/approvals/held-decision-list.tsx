import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { useEffect, useEffectEvent, useRef } from 'react'
import { approvalQuery, heldByReaderQuery, sessionQuery } from '../../api/queries.ts'
import type { Approval } from '../../api/types.ts'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { Button, KeyCap } from '../../ui/button.tsx'
import { useNow } from '../../ui/time.tsx'
import { showToast } from '../../ui/toast.tsx'
import { actorName } from './actor-name.ts'
import { approvalSummary } from './approval-summary.ts'
import { type Held, type HeldDecision, useHeldDecisions, useUndo } from './held-decisions.ts'
import { isReader } from './may-decide.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.held

/** What the reader has approved and can still undo, each with a button. Every page shows it. */
export function HeldDecisionList() {
  const decisions = useHeldDecisions()
  useDroppedToasts()
  const undo = useUndo()
  const last = decisions.at(-1)
  useShortcuts({ u: () => last && undo.mutate(last.approvalIds) })
  return (
    <div
      role="status"
      className="fixed z-40 flex flex-col gap-2 max-lg:inset-x-4 max-lg:top-14 lg:bottom-4 lg:left-58 lg:w-96"
    >
      {decisions.map((decision) => (
        <HeldDecisionNotice
          key={decision.approvalIds.join()}
          decision={decision}
          onUndo={() => undo.mutate(decision.approvalIds)}
        />
      ))}
    </div>
  )
}

/** Tells the reader of approvals that were held and could not be made. */
function useDroppedToasts(): void {
  const queries = useQueryClient()
  const { data: held } = useQuery(heldByReaderQuery)
  const before = useRef<readonly Approval[]>([])
  const readEnded = useEffectEvent((ended: readonly Approval[]) => {
    for (const approval of ended)
      queries.fetchQuery({ ...approvalQuery(approval.approval_id), staleTime: 0 }).then(
        ({ dropped }) => dropped && showToast(text.droppedToast(approvalSummary(approval), dropped.reason), true),
        () => {},
      )
  })
  useEffect(() => {
    if (!held) return
    readEnded(before.current.filter(({ approval_id: id }) => !held.some(({ approval_id }) => approval_id === id)))
    before.current = held
  }, [held])
}

function HeldDecisionNotice({ decision: { held, summary }, onUndo }: { decision: HeldDecision; onUndo: () => void }) {
  return (
    <div className="panel flex items-center gap-3 border-accent p-3 shadow-lg">
      <div className="min-w-0 grow">
        <p className="font-medium">
          {text.title} <SecondsLeft held={held} />
        </p>
        <p className="truncate text-muted">{summary}</p>
      </div>
      <Button variant="primary" onClick={onUndo} icon={<Undo2 size={14} aria-hidden />}>
        {text.undo} <KeyCap>u</KeyCap>
      </Button>
    </div>
  )
}

/** Hidden from screen readers, which would read every second. */
function SecondsLeft({ held }: { held: Held }) {
  const left = Date.parse(held.until) - useNow(250)
  return (
    <span aria-hidden className="text-muted tabular-nums">
      {text.secondsLeft(Math.ceil(Math.max(0, left) / 1_000))}
    </span>
  )
}

/** Replaces the buttons of an approval that is held. Without `onUndo` another person has made it. */
export function HeldDecisionRow({ held, onUndo }: { held: Held; onUndo: (() => void) | null }) {
  return (
    <div className="flex min-h-12 flex-wrap items-center gap-3">
      <p>
        {onUndo ? text.notSentYet : text.approvedBy(actorName(held.by))} <SecondsLeft held={held} />
      </p>
      {onUndo && <Button onClick={onUndo}>{text.undoApproval}</Button>}
    </div>
  )
}

/** The row for a held approval in a session. */
export function SessionHeldRow({ approval: { approval_id }, held }: { approval: Approval; held: Held }) {
  const { data: session } = useQuery(sessionQuery)
  const undo = useUndo()
  const isOwn = session !== undefined && isReader(held.by, session)
  return <HeldDecisionRow held={held} onUndo={isOwn ? () => undo.mutate([approval_id]) : null} />
}
