import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import { errorMessage } from '../../api/http.ts'
import { traceQuery } from '../../api/queries.ts'
import type { Span, Task } from '../../api/types.ts'
import { EmptyState, ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { JsonView } from '../../ui/json.tsx'
import { formatDuration } from '../../ui/format.ts'
import { useNow } from '../../ui/time.tsx'
import { tasksText } from './text.ts'

const text = tasksText.trace

interface SpanDepth {
  span: Span
  depth: number
}

const ROW_PX = 28

/** Waiting for a person has its own colour. */
const BAR_COLOURS: Record<Span['kind'], string> = {
  task: 'bg-line-strong',
  step: 'bg-muted/40',
  tool: 'bg-accent',
  model: 'bg-ok',
  approval: 'bg-wait',
}

/** The run as a waterfall of spans, with the attributes of the selected span. */
export function TraceView({ task, events }: { task: Task; events: number }) {
  const queries = useQueryClient()
  const { data: trace, error } = useQuery(traceQuery(task.id))
  // The server derives the trace from the log, so new events change it.
  useEffect(() => {
    const timer = setTimeout(() => void queries.invalidateQueries({ queryKey: traceQuery(task.id).queryKey }), 300)
    return () => clearTimeout(timer)
  }, [queries, task.id, events])
  const root = trace?.root
  const rows = useMemo(() => (root ? flattenSpans(root, 0) : []), [root])
  const [selected, setSelected] = useState<string | null>(null)
  const span = rows.find((row) => row.span.span_id === selected)?.span ?? root
  if (error) return <ErrorMessage message={errorMessage(error)} />
  if (!trace) return <Placeholder className="h-80" />
  if (!root || !span) return <EmptyState title={text.none}>{text.noneHint}</EmptyState>
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 2xl:grid-cols-[minmax(0,1fr)_24rem]">
      <Waterfall rows={rows} root={root} selected={span.span_id} onSelect={setSelected} />
      <section aria-label={text.selected} className="panel flex flex-col gap-2 p-4">
        <h2 className="font-medium">{span.name}</h2>
        <p className="text-xs text-muted">
          {text.details(
            span.kind,
            span.status,
            span.duration_ms === null ? text.running : formatDuration(span.duration_ms),
          )}
        </p>
        <JsonView value={span.attributes} label={text.attributes} />
      </section>
    </div>
  )
}

function Waterfall({
  rows,
  root,
  selected,
  onSelect,
}: {
  rows: SpanDepth[]
  root: Span
  selected: string
  onSelect: (id: string) => void
}) {
  const scroller = useRef<HTMLDivElement>(null)
  const now = useNow(1_000)
  const start = Date.parse(root.started_at)
  const total = Math.max(1, (root.ended_at ? Date.parse(root.ended_at) : now) - start)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 15,
  })
  return (
    <section aria-label={text.label} className="panel overflow-hidden">
      <Legend total={total} />
      <div ref={scroller} className="max-h-[calc(100dvh-16rem)] overflow-y-auto">
        <ul className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start: top, key }) => {
            const row = rows[index]
            return (
              row && (
                <li
                  key={key}
                  className="absolute inset-x-0"
                  style={{ transform: `translateY(${top}px)`, height: ROW_PX }}
                >
                  <SpanRow row={row} from={start} total={total} now={now} selected={selected} onSelect={onSelect} />
                </li>
              )
            )
          })}
        </ul>
      </div>
    </section>
  )
}

function SpanRow({
  row: { span, depth },
  from,
  total,
  now,
  selected,
  onSelect,
}: {
  row: SpanDepth
  from: number
  total: number
  now: number
  selected: string
  onSelect: (id: string) => void
}) {
  const startedAt = Date.parse(span.started_at)
  const took = (span.ended_at ? Date.parse(span.ended_at) : now) - startedAt
  const colour = span.status === 'failed' ? 'bg-bad' : BAR_COLOURS[span.kind]
  return (
    <button
      type="button"
      aria-pressed={span.span_id === selected}
      onClick={() => onSelect(span.span_id)}
      className="grid h-full w-full grid-cols-[minmax(7rem,30%)_1fr_4.5rem] items-center gap-3 px-3 text-left -outline-offset-2 hover:bg-hover aria-pressed:bg-accent-soft"
    >
      <span className="truncate text-xs" style={{ paddingLeft: depth * 12 }}>
        {span.name}
      </span>
      <span aria-hidden className="relative h-2.5">
        <span
          className={`absolute h-full min-w-0.5 rounded-sm ${colour} ${span.ended_at ? '' : 'animate-breathe'}`}
          style={{ left: `${((startedAt - from) / total) * 100}%`, width: `${(took / total) * 100}%` }}
        />
      </span>
      <span className="text-right text-xs text-muted tabular-nums">{formatDuration(took)}</span>
    </button>
  )
}

function Legend({ total }: { total: number }) {
  const kinds: [Span['kind'], string][] = [
    ['tool', text.tool],
    ['model', text.model],
    ['approval', text.approval],
  ]
  return (
    <p className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-3 py-2 text-xs text-muted">
      {kinds.map(([kind, label]) => (
        <span key={kind} className="flex items-center gap-1.5">
          <span aria-hidden className={`size-2 rounded-sm ${BAR_COLOURS[kind]}`} />
          {label}
        </span>
      ))}
      <span className="ml-auto tabular-nums">{text.total(formatDuration(total))}</span>
    </p>
  )
}

function flattenSpans(span: Span, depth: number): SpanDepth[] {
  return [{ span, depth }, ...span.children.flatMap((child) => flattenSpans(child, depth + 1))]
}
