import { X } from 'lucide-react'
import { useState } from 'react'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { Button, KeyCap } from '../../ui/button.tsx'
import { Tag } from '../../ui/status.tsx'
import { ApproveButton, RejectForm } from './decision-form.tsx'
import { approvalSummary } from './approval-summary.ts'
import type { ApprovalBatch, BatchOutcome } from './use-approval-batch.ts'

/** What is picked, the answer to all of it, and afterwards what came of each. */
export function BatchPanel({ batch, onClear }: { batch: ApprovalBatch; onClear: () => void }) {
  const { selected, outcomes } = batch
  const decided = outcomes.size > 0
  return (
    <section aria-label="Picked approvals" className="panel flex flex-col gap-3 border-accent p-5">
      <h2 className="text-base font-semibold">{decided ? batchSummary(batch) : `${selected.length} picked`}</h2>
      <ul aria-label="Picked" className="max-h-60 divide-y divide-line overflow-y-auto rounded-md border border-line">
        {selected.map((approval) => (
          <li key={approval.approval_id} className="flex items-start gap-3 px-3 py-1.5">
            <span className="min-w-0 grow break-words">{approvalSummary(approval)}</span>
            <OutcomeTag outcome={outcomes.get(approval.approval_id)} />
          </li>
        ))}
      </ul>
      {decided ? <BatchDone busy={batch.busy} onClear={onClear} /> : <BatchDecision batch={batch} onClear={onClear} />}
    </section>
  )
}

function batchSummary({ selected, outcomes, busy }: ApprovalBatch): string {
  const states = [...outcomes.values()].map(({ state }) => state)
  if (busy) return `${states.filter((state) => state !== 'working').length} of ${selected.length} answered`
  const done = states.filter((state) => state !== 'refused').length
  return done === selected.length ? `All ${done} answered` : `${done} answered, ${selected.length - done} refused`
}

function OutcomeTag({ outcome }: { outcome: BatchOutcome | undefined }) {
  if (!outcome) return null
  if (outcome.state === 'refused') return <span className="text-right text-xs text-bad">{outcome.message}</span>
  return <Tag tone={({ approved: 'ok', rejected: 'bad', working: 'run' } as const)[outcome.state]}>{outcome.state}</Tag>
}

function BatchDecision({ batch: { selected, decide }, onClear }: { batch: ApprovalBatch; onClear: () => void }) {
  const [mode, setMode] = useState<'look' | 'ready' | 'reject'>('look')
  const approve = () => void decide('approve', {})
  useShortcuts({
    a: () => (mode === 'ready' ? approve() : setMode('ready')),
    r: () => setMode('reject'),
    Escape: () => (mode === 'look' ? onClear() : setMode('look')),
  })
  if (mode === 'reject') {
    return (
      <RejectForm
        submit={`Reject ${selected.length} and end their tasks`}
        busy={false}
        onReject={(reason) => void decide('reject', reason ? { reason } : {})}
        onBack={() => setMode('look')}
      />
    )
  }
  return (
    <div className="flex flex-wrap items-center gap-2">
      <ApproveButton
        ready={mode === 'ready'}
        label={`Approve ${selected.length}`}
        cap={mode === 'look'}
        busy={false}
        onApprove={approve}
      />
      <Button variant="danger" onClick={() => setMode('reject')} icon={<X size={14} />}>
        Reject {selected.length} <KeyCap>r</KeyCap>
      </Button>
      <Button variant="ghost" onClick={onClear}>
        Pick none <KeyCap>Esc</KeyCap>
      </Button>
    </div>
  )
}

function BatchDone({ busy, onClear }: { busy: boolean; onClear: () => void }) {
  useShortcuts({ Escape: () => !busy && onClear() })
  return (
    <Button className="self-start" disabled={busy} onClick={onClear}>
      Done <KeyCap>Esc</KeyCap>
    </Button>
  )
}
