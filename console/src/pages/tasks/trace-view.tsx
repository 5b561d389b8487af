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

interface SpanDepth {
  span: Span
  depth: number
}

const ROW_PX = 28

/** People's time has its own colour: waiting is not working. */
const BARS: Record<Span['kind'], string> = {
  task: 'bg-line-strong',
  step: 'bg-muted/40',
  tool: 'bg-accent',
  model: 'bg-ok',
  approval: 'bg-wait',
}

/** The run as a waterfall; the chosen span tells its attributes beside it. */
export function TraceView({ task, events }: { task: Task; events: number }) {
  const queries = useQueryClient()
  const { data: trace, error } = useQuery(traceQuery(task.id))
  // The trace is folded from the log: when that grew, so did this.
  useEffect(() => {
    const timer = setTimeout(() => void queries.invalidateQueries({ queryKey: traceQuery(task.id).queryKey }), 300)
    return () => clearTimeout(timer)
  }, [queries, task.id, events])
  const root = trace?.root
  const rows = useMemo(() => (root ? flattenSpans(root, 0) : []), [root])
  const [chosen, setChosen] = useState<string | null>(null)
  const span = rows.find((row) => row.span.span_id === chosen)?.span ?? root
  if (error) return <ErrorMessage message={errorMessage(error)} />
  if (!trace) return <Placeholder className="h-80" />
  if (!root || !span)
    return <EmptyState title="There is no trace">It begins with the run, and goes with its log.</EmptyState>
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 2xl:grid-cols-[minmax(0,1fr)_24rem]">
      <Waterfall rows={rows} root={root} chosen={span.span_id} onChoose={setChosen} />
      <section aria-label="Chosen span" className="panel flex flex-col gap-2 p-4">
        <h2 className="font-medium">{span.name}</h2>
        <p className="text-xs text-muted">
          {span.kind} · {span.status} · {span.duration_ms === null ? 'not over' : formatDuration(span.duration_ms)}
        </p>
        <JsonView value={span.attributes} label="Attributes" />
      </section>
    </div>
  )
}

function Waterfall({
  rows,
  root,
  chosen,
  onChoose,
}: {
  rows: SpanDepth[]
  root: Span
  chosen: string
  onChoose: (id: string) => void
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
    <section aria-label="Trace" className="panel overflow-hidden">
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
                  <SpanRow row={row} from={start} total={total} now={now} chosen={chosen} onChoose={onChoose} />
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
  chosen,
  onChoose,
}: {
  row: SpanDepth
  from: number
  total: number
  now: number
  chosen: string
  onChoose: (id: string) => void
}) {
  const begins = Date.parse(span.started_at)
  const took = (span.ended_at ? Date.parse(span.ended_at) : now) - begins
  const look = span.status === 'failed' ? 'bg-bad' : BARS[span.kind]
  return (
    <button
      type="button"
      aria-pressed={span.span_id === chosen}
      onClick={() => onChoose(span.span_id)}
      className="grid h-full w-full grid-cols-[minmax(7rem,30%)_1fr_4.5rem] items-center gap-3 px-3 text-left -outline-offset-2 hover:bg-hover aria-pressed:bg-accent-soft"
    >
      <span className="truncate text-xs" style={{ paddingLeft: depth * 12 }}>
        {span.name}
      </span>
      <span aria-hidden className="relative h-2.5">
        <span
          className={`absolute h-full min-w-0.5 rounded-sm ${look} ${span.ended_at ? '' : 'animate-breathe'}`}
          style={{ left: `${((begins - from) / total) * 100}%`, width: `${(took / total) * 100}%` }}
        />
      </span>
      <span className="text-right text-xs text-muted tabular-nums">{formatDuration(took)}</span>
    </button>
  )
}

function Legend({ total }: { total: number }) {
  const kinds: [Span['kind'], string][] = [
    ['tool', 'tool'],
    ['model', 'model'],
    ['approval', 'a person'],
  ]
  return (
    <p className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-3 py-2 text-xs text-muted">
      {kinds.map(([kind, label]) => (
        <span key={kind} className="flex items-center gap-1.5">
          <span aria-hidden className={`size-2 rounded-sm ${BARS[kind]}`} />
          {label}
        </span>
      ))}
      <span className="ml-auto tabular-nums">{formatDuration(total)} in all</span>
    </p>
  )
}

function flattenSpans(span: Span, depth: number): SpanDepth[] {
  return [{ span, depth }, ...span.children.flatMap((child) => flattenSpans(child, depth + 1))]
}
