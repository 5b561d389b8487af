import { isNestedDeeperThan, type Json } from '../../platform/base/json.ts'
import { TOKEN_PREFIX } from '../../platform/base/tokens.ts'
import type { ToolCall } from '../../platform/contract/providers/conversation.ts'
import type { ToolResult } from '../../platform/contract/providers/provider-format.ts'
import { truncateText, truncateValue } from '../../platform/contract/truncate-value.ts'
import type { NewEvent } from '../../work/events/event-types.ts'

/** Later calls of a run are not recorded. */
const MAX_RECORDED_CALLS = 2000
const MAX_NAME_CHARS = 200

/**
 * Writes `tool.called` and `tool.result` for the tools of a custom agent as they pass through the model proxy, so that the
 * log of any framework can be read. It stops when the agent writes such events itself.
 */
export class ToolLog {
  /** The names of tools by the id of their call, as long as there is no result. */
  readonly #open = new Map<string, string>()
  /** The ids of all recorded calls. */
  readonly #recorded = new Set<string>()
  #isWrittenByAgent = false
  readonly #push: (event: NewEvent) => void

  constructor(push: (event: NewEvent) => void) {
    this.#push = push
  }

  recordCalls(calls: ToolCall[]): void {
    for (const { id, name, input } of calls) {
      if (this.#isWrittenByAgent || this.#recorded.size >= MAX_RECORDED_CALLS) return
      const call = { call_id: truncateText(id, MAX_NAME_CHARS), tool: truncateText(name, MAX_NAME_CHARS) }
      this.#open.set(id, call.tool)
      this.#recorded.add(id)
      const { value, isTruncated } = toEventValue(input)
      this.#push({ type: 'tool.called', data: { ...call, input: value, ...truncatedMark(isTruncated) } })
    }
  }

  /** Each request repeats all earlier results, and a model may use an id again: the last result of an id counts. */
  recordResults(results: ToolResult[]): void {
    if (this.#open.size === 0 || this.#isWrittenByAgent) return
    const latest = new Map(results.map((result) => [result.id, result]))
    for (const { id, ok, value: full } of latest.values()) {
      const tool = this.#open.get(id)
      if (tool === undefined) continue
      this.#open.delete(id)
      const { value, isTruncated } = toEventValue(full)
      const outcome = ok ? { ok: true, output: value } : { ok: false, error: value }
      const call = { call_id: truncateText(id, MAX_NAME_CHARS), tool }
      this.#push({ type: 'tool.result', data: { ...call, ...outcome, ...truncatedMark(isTruncated) } })
    }
  }

  /** Notes an event of the agent. False if the proxy has already recorded the same. */
  acceptAgentEvent({ type, data }: NewEvent): boolean {
    if (type !== 'tool.called' && type !== 'tool.result') return true
    this.#isWrittenByAgent = true
    if (!this.#recorded.has(data.call_id)) return true
    return type === 'tool.result' && this.#open.delete(data.call_id)
  }
}

const truncatedMark = (isTruncated: boolean): { truncated?: true } => (isTruncated ? { truncated: true } : {})

/** A tool may print its environment, which has the tokens of the run. */
const RUN_TOKEN = new RegExp(`(?:${TOKEN_PREFIX.task}|${TOKEN_PREFIX.gate})[\\w-]+`, 'g')

const MAX_DEPTH = 64

function toEventValue(full: Json): { value: Json; isTruncated: boolean } {
  const { value, isTruncated } = truncateValue(isNestedDeeperThan(full, MAX_DEPTH) ? '[nested too deeply]' : full)
  const text = JSON.stringify(value)
  return { value: JSON.parse(text.replaceAll(RUN_TOKEN, '[removed]')), isTruncated }
}
