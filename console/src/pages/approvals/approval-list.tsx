import type { Approval } from '../../api/types.ts'
import { KeyCap } from '../../ui/button.tsx'
import { Check } from '../../ui/form.tsx'
import { Stack } from '../../ui/stack.tsx'
import { Status } from '../../ui/status.tsx'
import { Countdown } from './countdown.tsx'
import { sentenceOf } from './sentence.ts'
import type { Batch } from './use-batch.ts'

/** The questions, one a row; those that wait can be picked, to be answered together. */
export function ApprovalList({
  approvals,
  chosen,
  batch,
  onChoose,
}: {
  approvals: Approval[]
  chosen: Approval | undefined
  batch: Batch | null
  onChoose: (approval: Approval) => void
}) {
  return (
    <div className="panel overflow-hidden">
      {batch && <PickAll approvals={approvals} batch={batch} />}
      <div className="overflow-y-auto xl:max-h-[calc(100dvh-12rem)]">
        <Stack label="Approvals">
          {approvals.map((approval) => ({
            key: approval.approval_id,
            look: `flex border-b border-line ${approval === chosen ? 'bg-accent-soft' : ''}`,
            row: (
              <>
                {batch && <Pick approval={approval} batch={batch} />}
                <Row approval={approval} chosen={approval === chosen} onChoose={onChoose} />
              </>
            ),
          }))}
        </Stack>
      </div>
    </div>
  )
}

function Pick({ approval, batch }: { approval: Approval; batch: Batch }) {
  return (
    <span className="flex items-start py-2.5 pl-3">
      <Check
        label={<span className="sr-only">Pick {sentenceOf(approval)}</span>}
        checked={isPicked(batch, approval)}
        onChange={() => toggle(batch, approval)}
      />
    </span>
  )
}

export function toggle(batch: Batch, approval: Approval): void {
  const others = batch.picked.filter(({ approval_id }) => approval_id !== approval.approval_id)
  batch.pick(others.length < batch.picked.length ? others : [...others, approval])
}

export function toggleAll(batch: Batch, approvals: Approval[]): void {
  batch.pick(approvals.every((approval) => isPicked(batch, approval)) ? [] : approvals)
}

const isPicked = ({ picked }: Batch, { approval_id }: Approval) => picked.some((one) => one.approval_id === approval_id)

function PickAll({ approvals, batch }: { approvals: Approval[]; batch: Batch }) {
  return (
    <div className="flex items-center border-b border-line bg-bg px-3 py-1.5 text-xs text-muted">
      <Check
        label="Pick all"
        checked={approvals.length > 0 && approvals.every((approval) => isPicked(batch, approval))}
        onChange={() => toggleAll(batch, approvals)}
      />
      <span className="ml-auto">
        <KeyCap>x</KeyCap> <span className="max-sm:hidden">picks one</span>
      </span>
    </div>
  )
}

function Row({
  approval,
  chosen,
  onChoose,
}: {
  approval: Approval
  chosen: boolean
  onChoose: (approval: Approval) => void
}) {
  return (
    <button
      type="button"
      aria-current={chosen}
      onClick={() => onChoose(approval)}
      className="flex min-w-0 grow flex-col gap-0.5 px-3 py-2 text-left -outline-offset-2 hover:bg-hover"
    >
      <span className="line-clamp-2 font-medium">{sentenceOf(approval)}</span>
      <span className="flex w-full items-center text-xs text-muted">
        <span className="truncate">{approval.wedge}</span>
        <span className="ml-auto flex">
          {approval.status === 'pending' ? <Countdown approval={approval} /> : <Status status={approval.status} />}
        </span>
      </span>
    </button>
  )
}
