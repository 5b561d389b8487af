import { errorMessage } from '../../platform/base/error-message.ts'
import { createEventStreamParser } from '../../platform/base/event-stream.ts'
import { errorMessageIn } from '../../platform/base/json-fields.ts'
import type { ModelProvider } from '../../platform/contract/agent-protocol.ts'
import type { Conversation } from '../../platform/contract/providers/conversation.ts'
import type {
  ModelMessage,
  StreamedReply,
  StreamProblem,
  StreamReader,
} from '../../platform/contract/providers/provider-format.ts'
import { PROVIDER_FORMATS } from '../../platform/contract/providers/provider-formats.ts'
import { RunFailure } from './harness-run.ts'
import { type PlaneCallResult, describeFailure, type PlaneClient, streamFromPlane } from './plane-client.ts'

/** Calls the model once. Text is passed on as it arrives, one piece per chunk. Every failure ends the run. */
export async function callModel(
  plane: PlaneClient,
  wire: ModelProvider,
  conversation: Conversation,
  onText: (text: string) => void,
): Promise<ModelMessage> {
  const { paths, headers, toRequest, createStreamReader } = PROVIDER_FORMATS[wire]
  const path = `/v1/internal/llm/${wire}/${paths[0]}`
  const reader = createStreamReader()
  const { reply } = reader
  const onChunk = createChunkHandler(reader, onText)
  const result = await streamFromPlane(plane, path, headers, toRequest(conversation), onChunk).catch(
    (error: unknown) => {
      // A connection that breaks after the end of the reply has lost nothing.
      if (reply.stop !== null && !reply.problem && !plane.over.isAborted) return { status: 200, body: null }
      throw toModelFailure(error)
    },
  )
  requireCompleteReply(result, reply)
  return { text: reply.text, calls: reply.calls }
}

function createChunkHandler({ reply, read }: StreamReader, onText: (text: string) => void): (chunk: string) => void {
  const parse = createEventStreamParser((data) => {
    read(data)
    if (reply.problem) throw new Error(describeProblem(reply.problem))
  })
  return (chunk) => {
    const before = reply.text.length
    parse(chunk)
    if (reply.text.length > before) onText(reply.text.slice(before))
  }
}

function describeProblem(problem: StreamProblem): string {
  if (problem.kind === 'malformed event') return 'the stream contains a malformed event'
  if (problem.kind === 'unfinished call') return 'the answer ended inside a tool call'
  return errorMessageIn(problem.event)
}

function requireCompleteReply(result: PlaneCallResult, { stop, calls }: StreamedReply): void {
  if (result.status === 402) throw new RunFailure(`cost exceeded: ${describeFailure(result)}`)
  if (result.status === 401) throw new RunFailure('the run is over: its token is no longer valid')
  if (result.status !== 200) throw new RunFailure(`model failed: ${describeFailure(result)}`)
  if (stop === null) {
    const why = result.body === null ? 'the stream ended before the answer did' : 'the answer is not an event stream'
    throw new RunFailure(`model failed: ${why}`)
  }
  if (stop === 'refusal') throw new RunFailure('model failed: the model refused to answer')
  // A truncated call has unreadable input and gets an error as its result; a truncated text would look complete.
  if (stop === 'length' && calls.length === 0) {
    throw new RunFailure('model failed: the answer was cut off at its length limit')
  }
}

function toModelFailure(error: unknown): RunFailure {
  if (error instanceof RunFailure) return error
  return new RunFailure(`model failed: ${errorMessage(error)}`)
}
