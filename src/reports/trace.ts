import type { Json, JsonObject } from '../base/json.ts'

export type TraceEvent = { seq: number; type: string; ts: string; data: JsonObject }

type TraceSpanKind = 'task' | 'step' | 'tool' | 'model' | 'approval'

export type TraceSpan = {
  /** `s` and the number of the event that opened it: the same log always gives the same ids. */
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
 * Folds a task's log into a tree: the task, its steps, and in each step the tool calls, model calls and approvals that
 * began in it. `status` is what the log alone can tell; a log that has not begun belongs to a queued task.
 */
export function buildTrace(taskId: string, events: readonly TraceEvent[]): Trace {
  const [first, ...others] = events.toSorted((a, b) => a.seq - b.seq)
  if (!first) return { task_id: taskId, status: 'queued', root: null }
  const fold = beginTrace(first)
  for (const event of first.type === 'task.created' ? others : [first, ...others]) {
    if (fold.ended === null) applyEvent(fold, event)
  }
  return { task_id: taskId, status: fold.ended ?? statusOfRunning(fold), root: fold.root }
}

type TraceBuild = {
  root: TraceSpan
  step: TraceSpan | null
  /** Spans that wait for the event that ends them, by what that event will name. */
  waiting: Map<string, TraceSpan>
  open: Set<TraceSpan>
  /** When the model can have begun with what it is charged for next. */
  idleSince: string
  ended: string | null
}

function beginTrace(first: TraceEvent): TraceBuild {
  const created = first.type === 'task.created'
  const { status: _, ...attributes } = created ? first.data : {}
  const name = [attributes.wedge, attributes.task_type].filter((part) => typeof part === 'string').join('/')
  // A log without its beginning still gets a root, with an id that no event has.
  const root = newSpan({ ...first, seq: created ? first.seq : 0, data: attributes }, 'task', name || 'task', null)
  return { root, step: null, waiting: new Map(), open: new Set([root]), idleSince: first.ts, ended: null }
}

function applyEvent(fold: TraceBuild, event: TraceEvent): void {
  const { data } = event
  switch (event.type) {
    case 'step.started':
      startStep(fold, event)
      break
    case 'tool.called':
      fold.waiting.set(callKey(data), openSpan(fold, event, 'tool', text(data.tool) ?? 'tool'))
      break
    case 'tool.result':
      endSpanByKey(fold, callKey(data), event, data.ok !== false)
      break
    case 'approval.requested':
      fold.waiting.set(approvalKey(data), openSpan(fold, event, 'approval', text(data.action) ?? 'approval'))
      break
    case 'approval.resolved':
      resolveApproval(fold, event)
      break
    case 'cost.charged':
      chargeModel(fold, event)
      break
    case 'task.finished':
      finishTrace(fold, event)
      break
  }
  // The model still speaks while these arrive: they do not say that it began anew.
  if (event.type !== 'token.delta' && event.type !== 'progress') fold.idleSince = event.ts
}

function startStep(fold: TraceBuild, event: TraceEvent): void {
  if (fold.step) closeSpan(fold, fold.step, event.ts, true)
  fold.step = null
  const number = typeof event.data.step === 'number' ? `step ${event.data.step}` : 'step'
  fold.step = openSpan(fold, event, 'step', text(event.data.label) ?? number)
}

/** A policy's approval has no request in the log: it takes no time. */
function resolveApproval(fold: TraceBuild, event: TraceEvent): void {
  const key = approvalKey(event.data)
  if (!fold.waiting.has(key)) {
    fold.waiting.set(key, openSpan(fold, event, 'approval', text(event.data.action) ?? 'approval'))
  }
  endSpanByKey(fold, key, event, event.data.decision !== 'rejected')
}

function chargeModel(fold: TraceBuild, event: TraceEvent): void {
  const span = openSpan(fold, event, 'model', text(event.data.model) ?? 'model')
  span.started_at = fold.idleSince
  closeSpan(fold, span, event.ts, true)
  const { total_usd: total } = event.data
  if (typeof total === 'number') fold.root.attributes.cost_usd = total
}

/** Whatever is still open ended with the task, and as well as the task did. */
function finishTrace(fold: TraceBuild, event: TraceEvent): void {
  fold.ended = text(event.data.status) ?? 'failed'
  if (event.data.error !== undefined) fold.root.attributes.error = event.data.error
  for (const span of fold.open) closeSpan(fold, span, event.ts, fold.ended === 'succeeded')
}

function endSpanByKey(fold: TraceBuild, key: string, event: TraceEvent, ok: boolean): void {
  const span = fold.waiting.get(key)
  if (!span) return
  fold.waiting.delete(key)
  span.attributes = { ...span.attributes, ...event.data }
  closeSpan(fold, span, event.ts, ok)
}

function openSpan(fold: TraceBuild, event: TraceEvent, kind: TraceSpanKind, name: string): TraceSpan {
  const parent = fold.step ?? fold.root
  const span = newSpan(event, kind, name, parent.span_id)
  parent.children.push(span)
  fold.open.add(span)
  return span
}

function closeSpan(fold: TraceBuild, span: TraceSpan, ts: string, ok: boolean): void {
  fold.open.delete(span)
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

function statusOfRunning(fold: TraceBuild): string {
  const asked = [...fold.waiting.values()].some((span) => span.kind === 'approval')
  return asked ? 'awaiting_approval' : 'running'
}

/** An agent that gives its calls no ids is understood as long as it makes one call of a tool at a time. */
const callKey = (data: JsonObject) => `tool ${text(data.call_id) ?? text(data.tool) ?? ''}`
const approvalKey = (data: JsonObject) => `approval ${text(data.approval_id) ?? ''}`
const text = (value: Json | undefined) => (typeof value === 'string' && value !== '' ? value : undefined)
