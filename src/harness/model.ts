import { messageOf } from '../base/message-of.ts'
import type { Wire } from '../base/protocol.ts'
import { type Answer, failureOf, type Plane, streamFrom } from './call.ts'
import { type Conversation, RunFailed, type Stop, type ToolCall, type WireFormat } from './conversation.ts'
import { eventStream } from './event-stream.ts'
import { anthropicWire } from './wire-anthropic.ts'
import { openaiWire } from './wire-openai.ts'

export type ModelAnswer = { text: string; calls: ToolCall[] }

/** What has been heard so far. `end` stays null until the model itself says that it is done. */
type Heard = { text: string; calls: ToolCall[]; end: Stop | null }

/** Asks once. Text is handed on as it comes, one piece per chunk from the network. Every failure ends the run. */
export async function askModel(
  plane: Plane,
  wire: Wire,
  conversation: Conversation,
  onText: (text: string) => void,
): Promise<ModelAnswer> {
  const format = wire === 'anthropic' ? anthropicWire : openaiWire
  const heard: Heard = { text: '', calls: [], end: null }
  const listen = listener(format, heard, onText)
  const answer = await streamFrom(plane, format.path, format.headers, format.body(conversation), listen).catch(
    (error: unknown) => {
      // A connection that breaks after the last word of the answer has taken nothing away.
      if (heard.end !== null && !plane.over.isAborted) return { status: 200, body: null }
      throw asModelFailure(error)
    },
  )
  refuseFailures(answer, heard)
  return { text: heard.text, calls: heard.calls }
}

function listener(format: WireFormat, heard: Heard, onText: (text: string) => void): (chunk: string) => void {
  const read = format.reader()
  const frames = eventStream((frame) => {
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

function refuseFailures(answer: Answer, heard: Heard): void {
  if (answer.status === 402) throw new RunFailed(`cost exceeded: ${failureOf(answer)}`)
  if (answer.status === 401) throw new RunFailed('the run is over: its token is no longer valid')
  if (answer.status !== 200) throw new RunFailed(`model failed: ${failureOf(answer)}`)
  if (heard.end === null) {
    const why = answer.body === null ? 'the stream ended before the answer did' : 'the answer is not an event stream'
    throw new RunFailed(`model failed: ${why}`)
  }
  if (heard.end === 'refusal') throw new RunFailed('model failed: the model refused to answer')
  // A call that was cut off is broken and answered as such; a cut text would pass for a whole one.
  if (heard.end === 'length' && heard.calls.length === 0) {
    throw new RunFailed('model failed: the answer was cut off at its length limit')
  }
}

function asModelFailure(error: unknown): RunFailed {
  if (error instanceof RunFailed) return error
  return new RunFailed(`model failed: ${messageOf(error)}`)
}
