import { createEventStreamParser } from '../base/event-stream.ts'
import { errorMessage } from '../base/error-message.ts'
import { tryParseJsonObject } from '../base/json-fields.ts'
import type { ModelProvider } from '../contract/agent-protocol.ts'
import { type PlaneCallResult, describeFailure, type PlaneClient, streamFromPlane } from './plane-client.ts'
import { type Conversation, RunFailure, type StopReason, type ToolCall, type ProviderFormat } from './conversation.ts'
import { anthropicFormat } from '../contract/providers/anthropic.ts'
import { openaiFormat } from '../contract/providers/openai.ts'

export type ModelReply = { text: string; calls: ToolCall[] }

/** What has been heard so far. `end` stays null until the model itself says that it is done. */
type PartialReply = { text: string; calls: ToolCall[]; end: StopReason | null }

/** Asks once. Text is handed on as it comes, one piece per chunk from the network. Every failure ends the run. */
export async function callModel(
  plane: PlaneClient,
  wire: ModelProvider,
  conversation: Conversation,
  onText: (text: string) => void,
): Promise<ModelReply> {
  const format = wire === 'anthropic' ? anthropicFormat : openaiFormat
  const heard: PartialReply = { text: '', calls: [], end: null }
  const listen = createStreamReader(format, heard, onText)
  const answer = await streamFromPlane(plane, format.path, format.headers, format.body(conversation), listen).catch(
    (error: unknown) => {
      // A connection that breaks after the last word of the answer has taken nothing away.
      if (heard.end !== null && !plane.over.isAborted) return { status: 200, body: null }
      throw toModelFailure(error)
    },
  )
  requireCompleteReply(answer, heard)
  return { text: heard.text, calls: heard.calls }
}

function createStreamReader(
  format: ProviderFormat,
  heard: PartialReply,
  onText: (text: string) => void,
): (chunk: string) => void {
  const read = format.reader()
  const frames = createEventStreamParser((data) => {
    if (data === '[DONE]') return
    const frame = tryParseJsonObject(data)
    if (!frame) throw new Error('the stream carries a malformed frame')
    for (const happening of read(frame)) {
      if (happening.kind === 'text') heard.text += happening.text
      else if (happening.kind === 'call') heard.calls.push(happening.call)
      else heard.end = happening.stop
    }
  })
  return (chunk) => {
    const before = heard.text.length
    frames(chunk)
    if (heard.text.length > before) onText(heard.text.slice(before))
  }
}

function requireCompleteReply(answer: PlaneCallResult, heard: PartialReply): void {
  if (answer.status === 402) throw new RunFailure(`cost exceeded: ${describeFailure(answer)}`)
  if (answer.status === 401) throw new RunFailure('the run is over: its token is no longer valid')
  if (answer.status !== 200) throw new RunFailure(`model failed: ${describeFailure(answer)}`)
  if (heard.end === null) {
    const why = answer.body === null ? 'the stream ended before the answer did' : 'the answer is not an event stream'
    throw new RunFailure(`model failed: ${why}`)
  }
  if (heard.end === 'refusal') throw new RunFailure('model failed: the model refused to answer')
  // A call that was cut off is broken and answered as such; a cut text would pass for a whole one.
  if (heard.end === 'length' && heard.calls.length === 0) {
    throw new RunFailure('model failed: the answer was cut off at its length limit')
  }
}

function toModelFailure(error: unknown): RunFailure {
  if (error instanceof RunFailure) return error
  return new RunFailure(`model failed: ${errorMessage(error)}`)
}
