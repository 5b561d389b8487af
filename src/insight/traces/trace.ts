import type { Json, JsonObject } from '../../platform/base/json.ts'

export type TraceEvent = { seq: number; type: string; ts: string; data: JsonObject }

type TraceSpanKind = 'task' | 'step' | 'tool' | 'model' | 'approval'

export type TraceSpan = {
  /** `s` and the number of the event that opened the span, so the same log always gives the same ids. */
  span_id: string
  parent_id: string | null
  name: string
  kind: TraceSpanKind
  status: 'running' | 'ok' | 'failed'
  started_at: string
  ended_at: string | null
  duration_ms: number | null
  attributes: JsonObject
  children: TraceSpan[]
}

export type Trace = { task_id: string; status: string; root: TraceSpan | null }

/**
 * Builds a tree from the log of a task: the task, its steps, and in each step the tool calls, model calls and approvals
 * that began in it. `status` is derived from the log alone; an empty log means a queued task.
 */
export function buildTrace(
  taskId: string,
  events: readonly TraceEvent[],
  failedActions: ReadonlySet<string> = new Set(),
): Trace {
  const [first, ...others] = events.toSorted((a, b) => a.seq - b.seq)
  if (!first) return { task_id: taskId, status: 'queued', root: null }
  const build = { ...beginTrace(first), failedActions }
  for (const event of first.type === 'task.created' ? others : [first, ...others]) {
    if (build.ended === null) applyEvent(build, event)
  }
  return { task_id: taskId, status: build.ended ?? statusOfRunning(build), root: build.root }
}

type TraceBuild = {
  root: TraceSpan
  step: TraceSpan | null
  /** Open spans by the key that their closing event will have. */
  waiting: Map<string, TraceSpan>
  open: Set<TraceSpan>
  /** The earliest time at which the next model call can have begun, for charges that do not say how long it took. */
  idleSince: string
  ended: string | null
  /** The approvals whose actions failed after they were approved. */
  failedActions: ReadonlySet<string>
}

function beginTrace(first: TraceEvent): Omit<TraceBuild, 'failedActions'> {
  const created = first.type === 'task.created'
  const { status: _, ...attributes } = created ? first.data : {}
  const name = [attributes.wedge, attributes.task_type].filter((part) => typeof part === 'string').join('/')
  // A log without `task.created` still gets a root, with an id that no event has.
  const root = newSpan({ ...first, seq: created ? first.seq : 0, data: attributes }, 'task', name || 'task', null)
  return { root, step: null, waiting: new Map(), open: new Set([root]), idleSince: first.ts, ended: null }
}

function applyEvent(build: TraceBuild, event: TraceEvent): void {
  const { data } = event
  switch (event.type) {
    case 'step.started':
      startStep(build, event)
      break
    case 'tool.called':
      build.waiting.set(callKey(data), openSpan(build, event, 'tool', text(data.tool) ?? 'tool'))
      break
    case 'tool.result':
      endSpanByKey(build, callKey(data), event, data.ok !== false)
      break
    case 'approval.requested':
      build.waiting.set(approvalKey(data), openSpan(build, event, 'approval', text(data.action) ?? 'approval'))
      break
    case 'approval.resolved':
      resolveApproval(build, event)
      break
    case 'cost.charged':
      chargeModel(build, event)
      break
    case 'task.finished':
      finishTrace(build, event)
      break
  }
  // These arrive during a model call, so they do not mark the start of the next one.
  if (event.type !== 'token.delta' && event.type !== 'progress') build.idleSince = event.ts
}

function startStep(build: TraceBuild, event: TraceEvent): void {
  if (build.step) closeSpan(build, build.step, event.ts, true)
  build.step = null
  const number = typeof event.data.step === 'number' ? `step ${event.data.step}` : 'step'
  build.step = openSpan(build, event, 'step', text(event.data.label) ?? number)
}

/** An auto-approval has no request event, so its span has no duration. */
function resolveApproval(build: TraceBuild, event: TraceEvent): void {
  const key = approvalKey(event.data)
  if (!build.waiting.has(key)) {
    build.waiting.set(key, openSpan(build, event, 'approval', text(event.data.action) ?? 'approval'))
  }
  const isFailed = build.failedActions.has(text(event.data.approval_id) ?? '')
  endSpanByKey(build, key, event, event.data.decision !== 'rejected' && !isFailed)
}

function chargeModel(build: TraceBuild, event: TraceEvent): void {
  const span = openSpan(build, event, 'model', text(event.data.model) ?? 'model')
  span.started_at = modelCallStart(build, event)
  closeSpan(build, span, event.ts, true)
  const { total_usd: total } = event.data
  if (typeof total === 'number') build.root.attributes.cost_usd = total
}

/** Not before its parent: the agent may have reported the step after it had sent the request. */
function modelCallStart(build: TraceBuild, { ts, data: { duration_ms } }: TraceEvent): string {
  if (typeof duration_ms !== 'number') return build.idleSince
  const began = new Date(Date.parse(ts) - duration_ms).toISOString()
  const parent = (build.step ?? build.root).started_at
  return began < parent ? parent : began
}

/** Closes all open spans with the outcome of the task. */
function finishTrace(build: TraceBuild, event: TraceEvent): void {
  build.ended = text(event.data.status) ?? 'failed'
  if (event.data.error !== undefined) build.root.attributes.error = event.data.error
  for (const span of build.open) closeSpan(build, span, event.ts, build.ended === 'succeeded')
}

function endSpanByKey(build: TraceBuild, key: string, event: TraceEvent, ok: boolean): void {
  const span = build.waiting.get(key)
  if (!span) return
  build.waiting.delete(key)
  span.attributes = { ...span.attributes, ...event.data }
  closeSpan(build, span, event.ts, ok)
}

function openSpan(build: TraceBuild, event: TraceEvent, kind: TraceSpanKind, name: string): TraceSpan {
  const parent = build.step ?? build.root
  const span = newSpan(event, kind, name, parent.span_id)
  parent.children.push(span)
  build.open.add(span)
  return span
}

function closeSpan(build: TraceBuild, span: TraceSpan, ts: string, ok: boolean): void {
  build.open.delete(span)
  span.status = ok ? 'ok' : 'failed'
  span.ended_at = ts
  span.duration_ms = Math.max(0, Date.parse(ts) - Date.parse(span.started_at))
}

function newSpan(event: TraceEvent, kind: TraceSpanKind, name: string, parent: string | null): TraceSpan {
  return {
    span_id: `s${event.seq}`,
    parent_id: parent,
    name,
    kind,
    status: 'running',
    started_at: event.ts,
    ended_at: null,
    duration_ms: null,
    attributes: { ...event.data },
    children: [],
  }
}

function statusOfRunning(build: TraceBuild): string {
  const isWaiting = [...build.waiting.values()].some((span) => span.kind === 'approval')
  return isWaiting ? 'awaiting_approval' : 'running'
}

/** Without call ids, calls are matched by tool name: correct if the agent makes one call per tool at a time. */
const callKey = (data: JsonObject) => `tool ${text(data.call_id) ?? text(data.tool) ?? ''}`
const approvalKey = (data: JsonObject) => `approval ${text(data.approval_id) ?? ''}`
const text = (value: Json | undefined) => (typeof value === 'string' && value !== '' ? value : undefined)
