import { X } from 'lucide-react'
import { useState } from 'react'
import type { Approval } from '../../api/types.ts'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { Button, KeyCap } from '../../ui/button.tsx'
import { clientName } from '../../ui/client-name.ts'
import { Tag } from '../../ui/status.tsx'
import { ApproveButton } from './decision-form.tsx'
import { batchTotals } from './batch-totals.ts'
import { HeldDecisionRow } from './held-decision-list.tsx'
import { useHeldDecisions } from './held-decisions.ts'
import { RejectForm } from './note-form.tsx'
import { approvalSummary } from './approval-summary.ts'
import { uiText } from '../../ui/text.ts'
import { approvalsText } from './text.ts'
import type { ApprovalBatch, BatchOutcome } from './use-approval-batch.ts'

const text = approvalsText.batch

/** The selected approvals, one decision for all of them, and then the result of each. */
export function BatchPanel({ batch, onClear }: { batch: ApprovalBatch; onClear: () => void }) {
  const { selected, outcomes } = batch
  const decided = outcomes.size > 0
  return (
    <section
      aria-label={text.label}
      className="panel flex flex-col gap-3 border-accent p-5 max-xl:fixed max-xl:inset-x-2 max-xl:bottom-2 max-xl:z-30 max-xl:max-h-[60dvh] max-xl:overflow-y-auto max-xl:p-4 max-xl:shadow-lg"
    >
      <h2 className="text-base font-semibold">{decided ? batchSummary(batch) : text.selected(selected.length)}</h2>
      <ul
        aria-label={text.label}
        tabIndex={0}
        className="max-h-60 shrink-0 max-xl:max-h-24 divide-y divide-line overflow-y-auto rounded-md border border-line"
      >
        {selected.map((approval) => (
          <li key={approval.approval_id} className="flex items-start gap-3 px-3 py-1.5">
            <span className="min-w-0 grow break-words">{batchLine(approval)}</span>
            <OutcomeTag outcome={outcomes.get(approval.approval_id)} />
          </li>
        ))}
      </ul>
      <BatchTotals batch={batch} />
      <BatchActions batch={batch} onClear={onClear} />
    </section>
  )
}

function batchLine(approval: Approval): string {
  const { client } = approval.context
  return [approvalSummary(approval), client?.name && clientName(client.name)].filter(Boolean).join(' · ')
}

/** What the decision is about; afterwards what was decided and what failed. */
function BatchTotals({ batch: { selected, outcomes } }: { batch: ApprovalBatch }) {
  if (outcomes.size === 0) return <p className="text-base font-medium text-accent">{batchTotals(selected)}</p>
  const byState = Map.groupBy(selected, ({ approval_id }) => outcomes.get(approval_id)?.state)
  return (
    <ul aria-label={text.results} className="flex flex-col gap-0.5">
      {RESULTS.flatMap((state) => {
        const approvals = byState.get(state)
        return approvals ? [<li key={state}>{text[state](batchTotals(approvals))}</li>] : []
      })}
    </ul>
  )
}

const RESULTS = ['held', 'approved', 'rejected', 'voted', 'failed'] as const

function BatchActions({ batch, onClear }: { batch: ApprovalBatch; onClear: () => void }) {
  const decisions = useHeldDecisions()
  const isHeld = (id: string) => batch.outcomes.get(id)?.state === 'held'
  const own = decisions.find(({ approvalIds }) => approvalIds.some(isHeld))
  if (own && !batch.busy) return <HeldDecisionRow held={own.held} onUndo={batch.undo} />
  if (batch.outcomes.size > 0) return <BatchDone busy={batch.busy} onClear={onClear} />
  return <BatchDecision batch={batch} onClear={onClear} />
}

function batchSummary({ selected, outcomes, busy }: ApprovalBatch): string {
  const states = [...outcomes.values()].map(({ state }) => state)
  if (busy) return text.progress(states.filter((state) => state !== 'working').length, selected.length)
  const done = states.filter((state) => state !== 'failed').length
  return done === selected.length ? text.allDecided(done) : text.someFailed(done, selected.length - done)
}

function OutcomeTag({ outcome }: { outcome: BatchOutcome | undefined }) {
  if (!outcome) return null
  if (outcome.state === 'failed') return <span className="text-right text-xs text-bad">{outcome.message}</span>
  return (
    <Tag
      tone={({ approved: 'ok', rejected: 'bad', working: 'run', held: 'run', voted: 'wait' } as const)[outcome.state]}
    >
      {text.state[outcome.state]}
    </Tag>
  )
}

function BatchDecision({ batch: { selected, decide }, onClear }: { batch: ApprovalBatch; onClear: () => void }) {
  const [mode, setMode] = useState<'view' | 'asking' | 'reject'>('view')
  const approve = () => decide('approve', {})
  useShortcuts({
    a: ({ repeat }) => !repeat && (mode === 'asking' ? approve() : setMode('asking')),
    r: () => setMode('reject'),
    Escape: () => (mode === 'view' ? onClear() : setMode('view')),
  })
  if (mode === 'reject') {
    return (
      <RejectForm
        submitLabel={text.rejectAndEnd(selected.length)}
        busy={false}
        onReject={(reason) => decide('reject', reason ? { reason } : {})}
        onBack={() => setMode('view')}
      />
    )
  }
  return (
    <div className="flex flex-wrap items-center gap-2">
      <ApproveButton
        asking={mode === 'asking'}
        label={text.approve(selected.length)}
        busy={false}
        onAsk={() => setMode('asking')}
        onApprove={approve}
      />
      <Button variant="danger" onClick={() => setMode('reject')} icon={<X size={14} />}>
        {text.reject(selected.length)} <KeyCap>r</KeyCap>
      </Button>
      <Button variant="ghost" onClick={onClear}>
        {text.clear} <KeyCap>{uiText.escapeKey}</KeyCap>
      </Button>
    </div>
  )
}

function BatchDone({ busy, onClear }: { busy: boolean; onClear: () => void }) {
  useShortcuts({ Escape: () => !busy && onClear() })
  return (
    <Button className="self-start" disabled={busy} onClick={onClear}>
      {text.done} <KeyCap>{uiText.escapeKey}</KeyCap>
    </Button>
  )
}
