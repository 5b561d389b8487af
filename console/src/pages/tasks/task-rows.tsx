import { useNavigate, Link } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowUp } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { TaskListItem } from '../../api/queries.ts'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { KeyCap } from '../../ui/button.tsx'
import { capitalize, humanize } from '../../ui/humanize.ts'
import { tasksText } from './text.ts'
import { shownTaskStatus, StatusBadge } from '../../ui/status.tsx'
import { formatUsd, formatDuration } from '../../ui/format.ts'
import { TimeAgo } from '../../ui/time.tsx'

const ROW_PX = 44
const MAX_NEW = 50
/** Narrow windows have no room for columns beside the name of the task. */
const COLUMNS =
  'grid items-center gap-x-4 grid-cols-[minmax(0,1fr)_auto] xl:grid-cols-[minmax(7.5rem,auto)_minmax(0,1fr)_11rem_5rem_6rem_4.5rem]'

/** Renders only the visible rows, so that a list of 10,000 tasks stays fast. */
export function TaskRows({
  rows,
  newCount,
  label,
  onShowNew,
  onLoadMore,
}: {
  rows: TaskListItem[]
  newCount: number
  label: string
  onShowNew: () => void
  onLoadMore: () => void
}) {
  const scroller = useRef<HTMLDivElement>(null)
  const [selected, setSelected] = useState(-1)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  })
  const shown = virtual.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= rows.length - 60) onLoadMore()
  }, [last, rows.length, onLoadMore])
  useListShortcuts(rows, selected, (to) => (setSelected(to), virtual.scrollToIndex(to)), onShowNew)
  return (
    <section aria-label={label} className="panel relative overflow-hidden">
      <ColumnHeads />
      {newCount > 0 && <NewTasksButton count={newCount} onClick={() => (virtual.scrollToOffset(0), onShowNew())} />}
      <div
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label={tasksText.rows(label)}
        className="h-[calc(100dvh-13rem)] min-h-64 overflow-y-auto -outline-offset-2"
      >
        <ul className="relative" style={{ height: virtual.getTotalSize() }}>
          {shown.map(({ index, start, key }) => {
            const row = rows[index]
            return (
              row && (
                <li
                  key={key}
                  className={`absolute inset-x-0 border-b border-line ${index === selected ? 'bg-accent-soft' : ''}`}
                  style={{ transform: `translateY(${start}px)`, height: ROW_PX }}
                >
                  <TaskRowLink row={row} />
                </li>
              )
            )
          })}
        </ul>
      </div>
    </section>
  )
}

function ColumnHeads() {
  const { columns } = tasksText
  return (
    <div aria-hidden className={`${COLUMNS} h-8 border-b border-line bg-bg px-4 text-xs font-medium text-muted`}>
      <span className="max-xl:order-2">{columns.status}</span>
      <span>{columns.task}</span>
      <span className="max-xl:hidden">{columns.wedge}</span>
      <span className="text-right max-xl:hidden">{columns.cost}</span>
      <span className="text-right max-xl:hidden">{columns.duration}</span>
      <span className="text-right max-xl:hidden">{columns.created}</span>
    </div>
  )
}

function TaskRowLink({ row }: { row: TaskListItem }) {
  const took = row.started_at && row.finished_at ? Date.parse(row.finished_at) - Date.parse(row.started_at) : null
  return (
    <Link
      to="/tasks/$taskId"
      params={{ taskId: row.id }}
      preload={false}
      className={`${COLUMNS} h-full px-4 -outline-offset-2 hover:bg-hover`}
    >
      <span className="max-xl:order-2">
        <StatusBadge status={shownTaskStatus(row)} />
      </span>
      <span className="min-w-0">
        <span className="block truncate">
          <span className="font-medium">{humanize(row.task_type)}</span>
          <span className="text-muted"> {row.summary}</span>
        </span>
        {row.error && <span className="block truncate text-xs text-bad">{capitalize(row.error.message)}</span>}
        {!row.error && (
          <span className="block truncate text-xs text-muted xl:hidden">
            {row.wedge} · <TimeAgo ts={row.created_at} />
          </span>
        )}
      </span>
      <span className="truncate text-muted max-xl:hidden">{row.wedge}</span>
      <span className="text-right text-muted tabular-nums max-xl:hidden">
        {row.cost_usd > 0 ? formatUsd(row.cost_usd) : '—'}
      </span>
      <span className="text-right text-muted tabular-nums max-xl:hidden">
        {took === null ? '—' : formatDuration(took)}
      </span>
      <span className="text-right text-xs text-muted max-xl:hidden">
        <TimeAgo ts={row.created_at} />
      </span>
    </Link>
  )
}

function NewTasksButton({ count, onClick }: { count: number; onClick: () => void }) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="absolute top-10 left-1/2 z-10 flex -translate-x-1/2 items-center gap-1.5 rounded-full bg-accent px-3 py-1 text-xs font-medium text-on-accent shadow-lg"
    >
      <ArrowUp size={13} aria-hidden />
      {tasksText.newTasks(count, MAX_NEW)}
      <KeyCap>n</KeyCap>
    </button>
  )
}

function useListShortcuts(rows: TaskListItem[], selected: number, go: (to: number) => void, onFresh: () => void): void {
  const navigate = useNavigate()
  const open = () => {
    const row = rows[selected]
    if (row) void navigate({ to: '/tasks/$taskId', params: { taskId: row.id } })
  }
  useShortcuts({
    j: () => go(Math.min(rows.length - 1, selected + 1)),
    k: () => go(Math.max(0, selected - 1)),
    n: onFresh,
    ...(selected >= 0 && { Enter: open }),
  })
}
