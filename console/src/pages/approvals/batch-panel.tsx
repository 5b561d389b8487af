import { X } from 'lucide-react'
import { useState } from 'react'
import { useKeys } from '../../shell/keys.ts'
import { Button, KeyCap } from '../../ui/button.tsx'
import { Tag } from '../../ui/status.tsx'
import { ApproveButton, RejectForm } from './decide.tsx'
import { sentenceOf } from './sentence.ts'
import type { Batch, Outcome } from './use-batch.ts'

/** What is picked, the answer to all of it, and afterwards what came of each. */
export function BatchPanel({ batch, onClear }: { batch: Batch; onClear: () => void }) {
  const { picked, outcomes } = batch
  const decided = outcomes.size > 0
  return (
    <section aria-label="Picked approvals" className="panel flex flex-col gap-3 border-accent p-5">
      <h2 className="text-base font-semibold">{decided ? summary(batch) : `${picked.length} picked`}</h2>
      <ul aria-label="Picked" className="max-h-60 divide-y divide-line overflow-y-auto rounded-md border border-line">
        {picked.map((approval) => (
          <li key={approval.approval_id} className="flex items-start gap-3 px-3 py-1.5">
            <span className="min-w-0 grow break-words">{sentenceOf(approval)}</span>
            <OutcomeTag outcome={outcomes.get(approval.approval_id)} />
          </li>
        ))}
      </ul>
      {decided ? <After busy={batch.busy} onClear={onClear} /> : <Answers batch={batch} onClear={onClear} />}
    </section>
  )
}

function summary({ picked, outcomes, busy }: Batch): string {
  const states = [...outcomes.values()].map(({ state }) => state)
  if (busy) return `${states.filter((state) => state !== 'working').length} of ${picked.length} answered`
  const done = states.filter((state) => state !== 'refused').length
  return done === picked.length ? `All ${done} answered` : `${done} answered, ${picked.length - done} refused`
}

function OutcomeTag({ outcome }: { outcome: Outcome | undefined }) {
  if (!outcome) return null
  if (outcome.state === 'refused') return <span className="text-right text-xs text-bad">{outcome.why}</span>
  return <Tag tone={({ approved: 'ok', rejected: 'bad', working: 'run' } as const)[outcome.state]}>{outcome.state}</Tag>
}

function Answers({ batch: { picked, decide }, onClear }: { batch: Batch; onClear: () => void }) {
  const [mode, setMode] = useState<'look' | 'ready' | 'reject'>('look')
  const approve = () => void decide('approve', {})
  useKeys({
    a: () => (mode === 'ready' ? approve() : setMode('ready')),
    r: () => setMode('reject'),
    Escape: () => (mode === 'look' ? onClear() : setMode('look')),
  })
  if (mode === 'reject') {
    return (
      <RejectForm
        submit={`Reject ${picked.length} and end their tasks`}
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
        label={`Approve ${picked.length}`}
        cap={mode === 'look'}
        busy={false}
        onApprove={approve}
      />
      <Button look="danger" onClick={() => setMode('reject')} icon={<X size={14} />}>
        Reject {picked.length} <KeyCap>r</KeyCap>
      </Button>
      <Button look="ghost" onClick={onClear}>
        Pick none <KeyCap>Esc</KeyCap>
      </Button>
    </div>
  )
}

function After({ busy, onClear }: { busy: boolean; onClear: () => void }) {
  useKeys({ Escape: () => !busy && onClear() })
  return (
    <Button className="self-start" disabled={busy} onClick={onClear}>
      Done <KeyCap>Esc</KeyCap>
    </Button>
  )
}
