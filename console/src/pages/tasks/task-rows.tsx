import { useNavigate, Link } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowUp } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { TaskListItem } from '../../api/queries.ts'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { KeyCap } from '../../ui/button.tsx'
import { humanize } from '../../ui/humanize.ts'
import { StatusBadge } from '../../ui/status.tsx'
import { formatUsd, formatDuration } from '../../ui/format.ts'
import { TimeAgo } from '../../ui/time.tsx'

const ROW = 44
/** Columns only where they leave the task's name room: beside them and the navigation a smaller window has none. */
const COLUMNS =
  'grid items-center gap-x-4 grid-cols-[minmax(0,1fr)_auto] xl:grid-cols-[7.5rem_minmax(0,1fr)_11rem_5rem_6rem_4.5rem]'

/** Only the rows that can be seen are there; ten thousand cost what forty do. */
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
  const [at, setAt] = useState(-1)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  })
  const shown = virtual.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= rows.length - 60) onLoadMore()
  }, [last, rows.length, onLoadMore])
  useListShortcuts(rows, at, (to) => (setAt(to), virtual.scrollToIndex(to)), onShowNew)
  return (
    <section aria-label={label} className="panel relative overflow-hidden">
      <ColumnHeads />
      {newCount > 0 && <NewTasksButton count={newCount} onClick={() => (virtual.scrollToOffset(0), onShowNew())} />}
      <div
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label={`${label}, rows`}
        className="h-[calc(100dvh-13rem)] min-h-64 overflow-y-auto -outline-offset-2"
      >
        <ul className="relative" style={{ height: virtual.getTotalSize() }}>
          {shown.map(({ index, start, key }) => {
            const row = rows[index]
            return (
              row && (
                <li
                  key={key}
                  className={`absolute inset-x-0 border-b border-line ${index === at ? 'bg-accent-soft' : ''}`}
                  style={{ transform: `translateY(${start}px)`, height: ROW }}
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
  return (
    <div aria-hidden className={`${COLUMNS} h-8 border-b border-line bg-bg px-4 text-xs font-medium text-muted`}>
      <span className="max-xl:order-2">Status</span>
      <span>Task</span>
      <span className="max-xl:hidden">Wedge</span>
      <span className="text-right max-xl:hidden">Cost</span>
      <span className="text-right max-xl:hidden">Took</span>
      <span className="text-right max-xl:hidden">Created</span>
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
        <StatusBadge status={row.status} />
      </span>
      <span className="min-w-0">
        <span className="block truncate">
          <span className="font-medium">{humanize(row.task_type)}</span>
          <span className="text-muted"> {row.summary}</span>
        </span>
        {row.error && <span className="block truncate text-xs text-bad">{row.error.message}</span>}
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
      {count >= 50 ? '50 or more' : count} new
      <KeyCap>n</KeyCap>
    </button>
  )
}

function useListShortcuts(rows: TaskListItem[], at: number, go: (to: number) => void, onFresh: () => void): void {
  const navigate = useNavigate()
  const open = () => {
    const row = rows[at]
    if (row) void navigate({ to: '/tasks/$taskId', params: { taskId: row.id } })
  }
  useShortcuts({
    j: () => go(Math.min(rows.length - 1, at + 1)),
    k: () => go(Math.max(0, at - 1)),
    n: onFresh,
    ...(at >= 0 && { Enter: open }),
  })
}
