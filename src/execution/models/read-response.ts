import { StringDecoder } from 'node:string_decoder'
import { createEventStreamParser } from '../../platform/base/event-stream.ts'
import type { JsonObject } from '../../platform/base/json.ts'
import { tryParseJsonObject } from '../../platform/base/json-fields.ts'
import { isBoundedJson } from '../../platform/base/strict-json.ts'
import type { StreamedReply, StreamProblem } from '../../platform/contract/providers/provider-format.ts'
import { type ModelApi, PROVIDER_FORMATS } from '../../platform/contract/providers/provider-formats.ts'
import type { ProviderResponse } from './provider-call.ts'
import { providerErrorKind, providerErrorReason } from './provider-error.ts'

export interface ResponseReader {
  reply: StreamedReply
  read: (chunk: Buffer) => void
}

/** An answer of 6,000 tokens with 20 alternatives for each. To parse more holds the event loop for seconds. */
const MAX_ANSWER_VALUES = 1_000_000

/** A whole answer as an object; null if it is none, or has too many values. */
export function parseAnswer(content: Buffer): JsonObject | null {
  const text = content.toString()
  return isBoundedJson(text, MAX_ANSWER_VALUES) ? tryParseJsonObject(text) : null
}

/** Reads an event stream that passes through the proxy: the sandbox is never asked what it used. */
export function createResponseReader(api: ModelApi): ResponseReader {
  const decoder = new StringDecoder('utf8')
  const { reply, read } = PROVIDER_FORMATS[api].createStreamReader()
  // An empty event is malformed.
  const parse = createEventStreamParser((data) => read(isBoundedJson(data, MAX_ANSWER_VALUES) ? data : ''))
  return { reply, read: (chunk) => parse(decoder.write(chunk)) }
}

/** Reads a response that is not streamed; `breakReason` is null if it is complete. */
export async function readWholeResponse(
  response: ProviderResponse,
): Promise<{ content: Buffer; breakReason: string | null }> {
  const chunks: Buffer[] = []
  let breakReason: string | null = null
  try {
    for await (const chunk of response.chunks) chunks.push(chunk)
  } catch {
    breakReason = response.describeBreak()
    response.abort()
  }
  return { content: Buffer.concat(chunks), breakReason }
}

/** The problem as the end of a sentence that begins with the provider. `key` is the provider's key, which is left out. */
export function describeStreamProblem(problem: StreamProblem, key: string | null): string {
  if (problem.kind === 'malformed event') return 'sent a malformed event'
  if (problem.kind === 'unfinished call') return 'ended its answer inside a tool call'
  return `stopped with an error${providerErrorKind(problem.event)}${providerErrorReason(problem.event, key)}`
}
