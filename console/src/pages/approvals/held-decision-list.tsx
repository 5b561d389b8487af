import { Undo2 } from 'lucide-react'
import { useEffect } from 'react'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { Button, KeyCap } from '../../ui/button.tsx'
import { useNow } from '../../ui/time.tsx'
import { type HeldDecision, HOLD_MS, useHeldDecisions } from './held-decisions.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.held

/** The approvals that are sent in a few seconds, each with a button that undoes it. Every page shows them. */
export function HeldDecisionList() {
  const held = useHeldDecisions()
  useShortcuts({ u: () => held.at(-1)?.undo() })
  useUnloadWarning(held.length > 0)
  return (
    <div
      role="status"
      className="fixed z-40 flex flex-col gap-2 max-lg:inset-x-4 max-lg:top-14 lg:bottom-4 lg:left-58 lg:w-96"
    >
      {held.map((decision) => (
        <HeldDecisionNotice key={decision.approvalIds.join()} decision={decision} />
      ))}
    </div>
  )
}

/** Browsers ask before they close a tab whose decision is not sent yet. */
export function useUnloadWarning(isHolding: boolean): void {
  useEffect(() => {
    if (!isHolding) return undefined
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [isHolding])
}

function HeldDecisionNotice({ decision }: { decision: HeldDecision }) {
  return (
    <div className="panel flex items-center gap-3 border-accent p-3 shadow-lg">
      <div className="min-w-0 grow">
        <p className="font-medium">
          {text.title} <SecondsLeft decision={decision} />
        </p>
        <p className="truncate text-muted">{decision.summary}</p>
      </div>
      <UndoButton decision={decision} />
    </div>
  )
}

/** Hidden from screen readers, which would read every second. */
function SecondsLeft({ decision }: { decision: HeldDecision }) {
  const left = decision.sendAt - useNow(250)
  const seconds = Math.min(HOLD_MS, Math.max(0, left)) / 1_000
  return (
    <span aria-hidden className="text-muted tabular-nums">
      {text.secondsLeft(Math.ceil(seconds))}
    </span>
  )
}

function UndoButton({ decision }: { decision: HeldDecision }) {
  return (
    <Button variant="primary" onClick={decision.undo} icon={<Undo2 size={14} aria-hidden />}>
      {text.undo} <KeyCap>u</KeyCap>
    </Button>
  )
}

/** Replaces the buttons of an approval that is decided and not sent yet. */
export function HeldDecisionRow({ decision }: { decision: HeldDecision }) {
  return (
    <div className="flex min-h-12 flex-wrap items-center gap-3">
      <p>
        {text.notSentYet} <SecondsLeft decision={decision} />
      </p>
      <Button onClick={decision.undo}>{text.undoApproval}</Button>
    </div>
  )
}
