import { StringDecoder } from 'node:string_decoder'
import { createEventStreamParser } from '../base/event-stream.ts'
import { objectField, textField } from '../base/json-fields.ts'
import type { JsonObject } from '../base/json.ts'
import type { ModelProvider } from '../contract/agent-protocol.ts'
import type { StreamedReply, StreamProblem } from '../contract/providers/provider-format.ts'
import { PROVIDER_FORMATS } from '../contract/providers/provider-formats.ts'

export interface ResponseReader {
  reply: StreamedReply
  read: (chunk: Buffer) => void
}

/** Reads an event stream that passes through the proxy: the sandbox is never asked what it used. */
export function createResponseReader(wire: ModelProvider): ResponseReader {
  const decoder = new StringDecoder('utf8')
  const { reply, read } = PROVIDER_FORMATS[wire].createStreamReader()
  const parse = createEventStreamParser(read)
  return { reply, read: (chunk) => parse(decoder.write(chunk)) }
}

/** The problem as the end of a sentence that begins with the provider. */
export function describeStreamProblem(problem: StreamProblem): string {
  if (problem.kind === 'malformed event') return 'sent a malformed event'
  if (problem.kind === 'unfinished call') return 'ended its answer inside a tool call'
  return `stopped with an error${providerErrorKind(problem.event)}`
}

/** The provider's code for an error. Only a plain word is passed on, never its sentences, which may quote secrets. */
export function providerErrorKind(body: JsonObject): string {
  const error = objectField(body, 'error')
  const kind = [textField(error, 'code'), textField(error, 'type')].find((word) => /^[a-z][a-z_]{2,40}$/.test(word))
  return kind === undefined ? '' : ` (${kind})`
}
