import { toObject, toText as text } from '../../api/json.ts'
import type { Json, JsonObject, TaskEvent } from '../../api/types.ts'

/** The log as a story: deltas are one text, a call and its result one line, a question and its answer one. */
export type TimelineEntry =
  | { kind: 'step'; id: number; ts: string; label: string }
  | { kind: 'text'; id: number; ts: string; text: string }
  | { kind: 'note'; id: number; ts: string; text: string }
  | { kind: 'tool'; id: number; ts: string; tool: string; input: Json; result: ToolResult | 'none' | null }
  | {
      kind: 'approval'
      id: number
      ts: string
      asked: JsonObject
      answer: JsonObject | null
      answeredAt: string | null
    }
  | { kind: 'validated'; id: number; ts: string; ok: boolean; errors: Json }
  | { kind: 'artifact'; id: number; ts: string; artifact: JsonObject }
  | { kind: 'feedback'; id: number; ts: string; data: JsonObject }
  | { kind: 'started' | 'finished'; id: number; ts: string; data: JsonObject }

interface ToolResult {
  ok: boolean
  output: Json
  ts: string
}

export interface TaskTimeline {
  /** How many events are in it already. */
  eventCount: number
  entries: readonly TimelineEntry[]
  cost: number
  tokens: number
  /** Where the open call or question of an id stands. */
  openIndex: Map<string, number>
}

export const emptyTimeline = (): TaskTimeline => ({
  eventCount: 0,
  entries: [],
  cost: 0,
  tokens: 0,
  openIndex: new Map(),
})

/** A text grows in one line until here, so that a long one is drawn in pieces. */
const MAX_TEXT_CHARS = 4_000

/** Reads on from where the story ends; items that did not change stay the same objects. */
export function extendTimeline(story: TaskTimeline, events: readonly TaskEvent[]): TaskTimeline {
  if (events.length === story.eventCount) return story
  const next = { ...story, items: [...story.entries], at: new Map(story.openIndex), read: events.length }
  for (let i = story.eventCount; i < events.length; i++) {
    const event = events[i]
    if (event) addEvent(next, event)
  }
  return next
}

type MutableTimeline = Omit<TaskTimeline, 'items'> & { items: TimelineEntry[] }

function addEvent(story: MutableTimeline, { id, ts, type, data }: TaskEvent): void {
  const { items } = story
  switch (type) {
    case 'task.created':
      return void items.push({ kind: 'started', id, ts, data })
    case 'step.started':
      return void items.push({ kind: 'step', id, ts, label: text(data['label']) || `Step ${text(data['step'])}` })
    case 'progress':
      return void items.push({ kind: 'note', id, ts, text: text(data['text']) })
    case 'token.delta':
      return appendText(items, id, ts, text(data['text']))
    case 'tool.called':
      story.openIndex.set(text(data['call_id']), items.length)
      return void items.push({ kind: 'tool', id, ts, tool: toolName(data), input: data['input'] ?? null, result: null })
    case 'tool.result':
      return finishTool(story, ts, data)
    case 'approval.requested':
      story.openIndex.set(text(data['approval_id']), items.length)
      return void items.push({ kind: 'approval', id, ts, asked: data, answer: null, answeredAt: null })
    case 'approval.resolved':
      return resolveApproval(story, id, ts, data)
    case 'output.validated':
      return void items.push({ kind: 'validated', id, ts, ok: data['ok'] === true, errors: data['errors'] ?? [] })
    case 'artifact.created':
      return void items.push({ kind: 'artifact', id, ts, artifact: data })
    case 'cost.charged':
      story.cost = Number(data['total_usd'] ?? story.cost)
      story.tokens += Number(data['input_tokens'] ?? 0) + Number(data['output_tokens'] ?? 0)
      return
    case 'feedback.recorded':
      return void items.push({ kind: 'feedback', id, ts, data })
    case 'task.finished':
      endOpenTools(items)
      return void items.push({ kind: 'finished', id, ts, data })
    default:
      // New types may appear; the view of all events shows them.
      return
  }
}

function appendText(items: TimelineEntry[], id: number, ts: string, more: string): void {
  const last = items.at(-1)
  if (last?.kind === 'text' && last.text.length < MAX_TEXT_CHARS)
    items[items.length - 1] = { ...last, text: last.text + more }
  else items.push({ kind: 'text', id, ts, text: more })
}

function finishTool({ items, openIndex }: MutableTimeline, ts: string, data: JsonObject): void {
  const index = openIndex.get(text(data['call_id']))
  const item = index === undefined ? undefined : items[index]
  if (index === undefined || item?.kind !== 'tool') return
  const result = { ok: data['ok'] !== false, output: data['output'] ?? data['error'] ?? null, ts }
  items[index] = { ...item, result }
}

/** A call that had no result when the task ended will never have one. */
function endOpenTools(items: TimelineEntry[]): void {
  items.forEach((item, i) => {
    if (item.kind === 'tool' && item.result === null) items[i] = { ...item, result: 'none' }
  })
}

/** What a policy passes was never asked, so its answer stands alone. */
function resolveApproval({ items, openIndex }: MutableTimeline, id: number, ts: string, data: JsonObject): void {
  const index = openIndex.get(text(data['approval_id']))
  const item = index === undefined ? undefined : items[index]
  if (index !== undefined && item?.kind === 'approval') items[index] = { ...item, answer: data, answeredAt: ts }
  else items.push({ kind: 'approval', id, ts, asked: data, answer: data, answeredAt: ts })
}

/** A workflow is named by its own name, not by the tool that calls it. */
function toolName({ tool, input }: JsonObject): string {
  const named = toObject(input)
  const inner = named['capability'] ?? (tool === 'workflow' ? named['name'] : undefined)
  return inner === undefined ? text(tool) : `${text(tool)} ${text(inner)}`
}
