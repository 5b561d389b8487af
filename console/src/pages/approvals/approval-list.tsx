import { type RefObject, useEffect, useRef } from 'react'
import type { Approval } from '../../api/types.ts'
import { KeyCap } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/form-fields.tsx'
import { clientName } from '../../ui/client-name.ts'
import { AnimatedList } from '../../ui/animated-list.tsx'
import { StatusBadge, Tag } from '../../ui/status.tsx'
import { Countdown } from './countdown.tsx'
import { approvalSummary } from './approval-summary.ts'
import { approvalsText } from './text.ts'
import type { ApprovalBatch } from './use-approval-batch.ts'

/** The approvals, one per row. Pending ones can be selected and decided together. */
export function ApprovalList({
  approvals,
  open,
  batch,
  onOpen,
}: {
  approvals: Approval[]
  open: Approval | undefined
  batch: ApprovalBatch | null
  onOpen: (approval: Approval) => void
}) {
  const openId = open?.approval_id
  const list = useShowOpenRow(openId)
  return (
    <div className="panel overflow-hidden">
      {batch && <SelectAll approvals={approvals} batch={batch} />}
      <div ref={list} className="overflow-y-auto xl:max-h-[calc(100dvh-12rem)]">
        <AnimatedList label={approvalsText.title}>
          {approvals.map((approval) => ({
            key: approval.approval_id,
            className: `flex border-b border-line ${approval.approval_id === openId ? 'bg-accent-soft' : ''}`,
            row: (
              <>
                {batch?.isSelectable(approval) && <SelectCheckbox approval={approval} batch={batch} />}
                <ApprovalRow approval={approval} open={approval.approval_id === openId} onOpen={onOpen} />
              </>
            ),
          }))}
        </AnimatedList>
      </div>
    </div>
  )
}

/** Scrolls the list, and not the page, to the open approval: a link may open one that is far down. */
function useShowOpenRow(openId: string | undefined): RefObject<HTMLDivElement | null> {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!list.current) return
    const rows = [...list.current.querySelectorAll('li')]
    const index = rows.findIndex((row) => row.querySelector('[aria-current="true"]'))
    const height = rows[index]?.offsetHeight
    if (height === undefined) return
    // The sum of the heights, because a row that is moving is not yet at its position.
    const top = rows.slice(0, index).reduce((sum, { offsetHeight }) => sum + offsetHeight, 0)
    const { scrollTop, clientHeight } = list.current
    if (top < scrollTop || top + height > scrollTop + clientHeight)
      list.current.scrollTop = top - (clientHeight - height) / 2
  }, [openId])
  return list
}

function SelectCheckbox({ approval, batch }: { approval: Approval; batch: ApprovalBatch }) {
  return (
    <span className="flex items-start py-2.5 pl-3">
      <Checkbox
        label={<span className="sr-only">{approvalsText.batch.select(approvalSummary(approval))}</span>}
        checked={isSelected(batch, approval)}
        onChange={() => toggleSelected(batch, approval)}
      />
    </span>
  )
}

export function toggleSelected(batch: ApprovalBatch, approval: Approval): void {
  if (!batch.isSelectable(approval)) return
  const others = batch.selected.filter(({ approval_id }) => approval_id !== approval.approval_id)
  batch.select(others.length < batch.selected.length ? others : [...others, approval])
}

export function toggleAllSelected(batch: ApprovalBatch, approvals: Approval[]): void {
  batch.select(isAllSelected(batch, approvals) ? [] : approvals.filter(batch.isSelectable))
}

function isAllSelected(batch: ApprovalBatch, approvals: Approval[]): boolean {
  const selectable = approvals.filter(batch.isSelectable)
  return selectable.length > 0 && selectable.every((approval) => isSelected(batch, approval))
}

const isSelected = ({ selected }: ApprovalBatch, { approval_id }: Approval) =>
  selected.some((one) => one.approval_id === approval_id)

function SelectAll({ approvals, batch }: { approvals: Approval[]; batch: ApprovalBatch }) {
  return (
    <div className="flex items-center border-b border-line bg-bg px-3 py-1.5 text-xs text-muted">
      <Checkbox
        label={approvalsText.batch.selectAll}
        checked={isAllSelected(batch, approvals)}
        onChange={() => toggleAllSelected(batch, approvals)}
      />
      <span className="ml-auto">
        <KeyCap>x</KeyCap> <span className="max-sm:hidden">{approvalsText.batch.toSelect}</span>
      </span>
    </div>
  )
}

function ApprovalRow({
  approval,
  open,
  onOpen,
}: {
  approval: Approval
  open: boolean
  onOpen: (approval: Approval) => void
}) {
  const { assignee, held } = approval
  const { client } = approval.context
  return (
    <button
      type="button"
      aria-current={open}
      onClick={() => onOpen(approval)}
      className="flex min-w-0 grow flex-col gap-0.5 px-3 py-2 text-left -outline-offset-2 hover:bg-hover"
    >
      <span className="line-clamp-2 font-medium">{approvalSummary(approval)}</span>
      <span className="flex w-full items-center gap-2 text-xs text-muted">
        <span className="truncate">
          {[
            approval.wedge,
            client?.name && clientName(client.name),
            assignee && approvalsText.people.assignedTo(assignee.name),
          ]
            .filter(Boolean)
            .join(' · ')}
        </span>
        <span className="ml-auto flex">
          {held ? (
            <Tag tone="run">{approvalsText.held.title}</Tag>
          ) : approval.status === 'pending' ? (
            <Countdown approval={approval} />
          ) : (
            <StatusBadge status={approval.revise ? 'sent_back' : approval.status} />
          )}
        </span>
      </span>
    </button>
  )
}
