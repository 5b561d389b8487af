import type { ConversationTurn, ToolCall, ToolCallResult } from './providers/conversation.ts'

/**
 * One entry of the conversation of a run, in the order in which they happened: a reply of the model, the result of one of
 * its calls, or a request to repair the output. The entries are stored as they happen, so that a run can continue from
 * the last one in another process. The first prompt is not among them, because it follows from the brief.
 */
export type TranscriptEntry =
  | { by: 'model'; text: string; calls: ToolCall[] }
  | { by: 'tool'; result: ToolCallResult }
  | { by: 'user'; text: string }

/** A reply of the model and the results of its first calls. */
export interface OpenTurn {
  reply: { text: string; calls: ToolCall[] }
  results: ToolCallResult[]
}

/** What the stored entries of a run amount to. */
export interface ReplayedTranscript {
  /** The complete turns, after the first prompt. */
  turns: ConversationTurn[]
  /** The last reply, if it has not been acted on completely. */
  open: OpenTurn | null
  /** The number of replies of the model. */
  steps: number
  /** The model was asked to repair an output, which happens once. */
  hasRepair: boolean
}

export function replayTranscript(entries: readonly TranscriptEntry[]): ReplayedTranscript {
  const replayed: ReplayedTranscript = { turns: [], open: null, steps: 0, hasRepair: false }
  for (const entry of entries) {
    if (entry.by === 'model') {
      replayed.steps++
      replayed.turns.push(entry)
      replayed.open = { reply: entry, results: [] }
    } else if (entry.by === 'user') {
      replayed.turns.push(entry)
      replayed.open = null
      replayed.hasRepair = true
    } else if (replayed.open) {
      addResult(replayed, replayed.open, entry.result)
    }
  }
  return replayed
}

function addResult(replayed: ReplayedTranscript, { reply, results }: OpenTurn, result: ToolCallResult): void {
  const call = reply.calls[results.length]
  results.push(result)
  replayed.hasRepair ||= call?.name === 'finish' && call.inputError === null
  if (results.length < reply.calls.length) return
  replayed.turns.push({ by: 'tools', results })
  replayed.open = null
}
