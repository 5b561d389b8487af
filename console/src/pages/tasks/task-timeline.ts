import { toObject, toText } from '../../api/json.ts'
import type { Json, JsonObject, TaskEvent } from '../../api/types.ts'
import { tasksText } from './text.ts'

/** One line of the timeline. Text deltas, a call and its result, an approval and its decision are merged into one. */
export type TimelineEntry =
  | { kind: 'step'; id: number; ts: string; label: string }
  | { kind: 'text'; id: number; ts: string; text: string }
  | { kind: 'note'; id: number; ts: string; text: string }
  | { kind: 'tool'; id: number; ts: string; tool: string; input: Json; result: ToolResult | 'missing' | null }
  | {
      kind: 'approval'
      id: number
      ts: string
      request: JsonObject
      decision: JsonObject | null
      decidedAt: string | null
    }
  | { kind: 'validated'; id: number; ts: string; ok: boolean; errors: Json }
  | { kind: 'artifact'; id: number; ts: string; artifact: JsonObject }
  | { kind: 'feedback'; id: number; ts: string; data: JsonObject }
  | { kind: 'started' | 'finished'; id: number; ts: string; data: JsonObject }
  | { kind: 'not_started'; id: number; ts: string; hasFailed: boolean }

interface ToolResult {
  ok: boolean
  output: Json
  ts: string
}

export interface TaskTimeline {
  /** How many events it includes. */
  eventCount: number
  entries: readonly TimelineEntry[]
  cost: number
  tokens: number
  /** The index of the open call or approval, by id. */
  openIndex: Map<string, number>
}

export const emptyTimeline = (): TaskTimeline => ({
  eventCount: 0,
  entries: [],
  cost: 0,
  tokens: 0,
  openIndex: new Map(),
})

/** A longer text is split into several entries, so that only the last one is rendered again while it grows. */
const MAX_TEXT_CHARS = 4_000

/** Adds the new events. Unchanged entries stay the same objects. */
export function extendTimeline(timeline: TaskTimeline, events: readonly TaskEvent[]): TaskTimeline {
  if (events.length === timeline.eventCount) return timeline
  const next = {
    ...timeline,
    entries: [...timeline.entries],
    openIndex: new Map(timeline.openIndex),
    eventCount: events.length,
  }
  for (let i = timeline.eventCount; i < events.length; i++) {
    const event = events[i]
    if (event) addEvent(next, event)
  }
  return next
}

type MutableTimeline = Omit<TaskTimeline, 'entries'> & { entries: TimelineEntry[] }

function addEvent(timeline: MutableTimeline, { id, ts, type, data }: TaskEvent): void {
  const { entries } = timeline
  switch (type) {
    case 'task.created':
      return void entries.push(
        data['sandbox'] === 'none'
          ? { kind: 'not_started', id, ts, hasFailed: false }
          : { kind: 'started', id, ts, data },
      )
    case 'step.started':
      return void entries.push({
        kind: 'step',
        id,
        ts,
        label: toText(data['label']) || tasksText.timeline.step(toText(data['step'])),
      })
    case 'progress':
      return void entries.push({ kind: 'note', id, ts, text: toText(data['text']) })
    case 'token.delta':
      return appendText(entries, id, ts, toText(data['text']))
    case 'tool.called':
      timeline.openIndex.set(toText(data['call_id']), entries.length)
      return void entries.push({
        kind: 'tool',
        id,
        ts,
        tool: toolName(data),
        input: data['input'] ?? null,
        result: null,
      })
    case 'tool.result':
      return finishTool(timeline, ts, data)
    case 'approval.requested':
      timeline.openIndex.set(toText(data['approval_id']), entries.length)
      return void entries.push({ kind: 'approval', id, ts, request: data, decision: null, decidedAt: null })
    case 'approval.resolved':
      return resolveApproval(timeline, id, ts, data)
    case 'output.validated':
      return void entries.push({ kind: 'validated', id, ts, ok: data.ok, errors: data.errors ?? [] })
    case 'artifact.created':
      return void entries.push({ kind: 'artifact', id, ts, artifact: data })
    case 'cost.charged':
      timeline.cost = data.total_usd
      timeline.tokens += data.input_tokens + data.output_tokens
      return
    case 'feedback.recorded':
      return void entries.push({ kind: 'feedback', id, ts, data })
    case 'task.finished':
      endOpenTools(entries)
      if (data['status'] === 'failed') failStart(entries)
      return void entries.push({ kind: 'finished', id, ts, data })
    default:
      // Unknown event types are shown in the list of all events only.
      return
  }
}

function appendText(entries: TimelineEntry[], id: number, ts: string, more: string): void {
  const last = entries.at(-1)
  if (last?.kind === 'text' && last.text.length < MAX_TEXT_CHARS)
    entries[entries.length - 1] = { ...last, text: last.text + more }
  else entries.push({ kind: 'text', id, ts, text: more })
}

function finishTool({ entries, openIndex }: MutableTimeline, ts: string, data: JsonObject): void {
  const index = openIndex.get(toText(data['call_id']))
  const entry = index === undefined ? undefined : entries[index]
  if (index === undefined || entry?.kind !== 'tool') return
  const result = { ok: data['ok'] !== false, output: data['output'] ?? data['error'] ?? null, ts }
  entries[index] = { ...entry, result }
}

/** A task that was cancelled or has expired before it started did not fail to start. */
function failStart(entries: TimelineEntry[]): void {
  entries.forEach((entry, i) => {
    if (entry.kind === 'not_started') entries[i] = { ...entry, hasFailed: true }
  })
}

/** A call without a result at the end of the task never gets one. */
function endOpenTools(entries: TimelineEntry[]): void {
  entries.forEach((entry, i) => {
    if (entry.kind === 'tool' && entry.result === null) entries[i] = { ...entry, result: 'missing' }
  })
}

/** An auto-approved action has no request event, so its decision is an entry of its own. */
function resolveApproval({ entries, openIndex }: MutableTimeline, id: number, ts: string, data: JsonObject): void {
  const index = openIndex.get(toText(data['approval_id']))
  const entry = index === undefined ? undefined : entries[index]
  if (index !== undefined && entry?.kind === 'approval') entries[index] = { ...entry, decision: data, decidedAt: ts }
  else entries.push({ kind: 'approval', id, ts, request: data, decision: data, decidedAt: ts })
}

/** A call of a workflow or capability is named after it, not only after the tool. */
function toolName({ tool, input }: JsonObject): string {
  const named = toObject(input)
  const inner = named['capability'] ?? (tool === 'workflow' ? named['name'] : undefined)
  if (inner === undefined) return toText(tool)
  return toText(tool).includes('__') ? toText(inner) : `${toText(tool)} ${toText(inner)}`
}
