import type { Json, JsonObject } from '../../src/platform/base/json.ts'
import type { ProviderReply } from '../execution/models/fake-provider.ts'

/** A tool call of the scripted model; null: it says "Done.". */
export type LocalCall = { name: string; input: JsonObject } | null

/** How a server answers a request to its Chat Completions API. */
export type LocalServer = (body: JsonObject, call: LocalCall) => ProviderReply

/** The tool calls have no id in older versions, come in one piece and after the thoughts of the model. */
const ollama: LocalServer = (body, call) => {
  if (body['model'] !== 'qwen3:8b')
    return refuse(404, `model "${String(body['model'])}" not found, try pulling it first`, 'not_found_error')
  const message = messagesOf(body).find(({ content, tool_calls }) => typeof content !== 'string' && !tool_calls)
  if (message) return refuse(400, 'invalid message content type: <nil>', 'invalid_request_error')
  const text = { content: call ? '' : 'Done.' }
  const calls = call && { tool_calls: [{ id: '', index: 0, type: 'function', function: describeCall(call) }] }
  return stream(
    body,
    [
      { role: 'assistant', content: '', reasoning: 'Let me see.' },
      { ...text, ...calls },
    ],
    call,
  )
}

/** The arguments come in pieces. A request that may not fit into the context, or whose tools are not enabled, is refused. */
const vllm =
  (contextTokens: number): LocalServer =>
  (body, call) => {
    const asked = Number(body['max_tokens'])
    const prompt = Math.ceil(JSON.stringify(body['messages']).length / 4)
    if (prompt + asked > contextTokens)
      return refuse(
        400,
        `This model's maximum context length is ${contextTokens} tokens. However, you requested ${prompt + asked} tokens ` +
          `(${prompt} in the messages, ${asked} in the completion). Please reduce the length of the messages or completion.`,
        'BadRequestError',
      )
    const opened = { role: 'assistant', content: '', reasoning_content: null }
    return stream(body, [opened, ...callPieces(call, 'chatcmpl-tool-'), ...(call ? [] : [{ content: 'Done.' }])], call)
  }

const vllmWithoutTools: LocalServer = () =>
  refuse(
    400,
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    'BadRequestError',
  )

/** The first content is null, and the usage comes with timings. */
const llamaCpp: LocalServer = (body, call) => {
  const opened = { role: 'assistant', content: null }
  const thought = { reasoning_content: 'Let me see.' }
  return stream(body, [opened, thought, ...callPieces(call, ''), ...(call ? [] : [{ content: 'Done.' }])], call)
}

export const LOCAL_SERVERS = {
  ollama,
  vllm: vllm(32_768),
  vllmWithShortContext: vllm(8192),
  vllmWithoutTools,
  llamaCpp,
}

const refuse = (status: number, message: string, type: string): ProviderReply => ({
  status,
  json: { error: { message, type, param: null, code: status } },
})

/** The usage is in the stream only if the request asks for it. */
function stream(body: JsonObject, deltas: JsonObject[], call: LocalCall): ProviderReply {
  const chunk = (choices: Json) => ({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, choices })
  const options = body['stream_options'] as { include_usage?: boolean } | undefined
  const usage = { prompt_tokens: 900, completion_tokens: 30, total_tokens: 930 }
  const events = [
    ...deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
    chunk([{ index: 0, delta: {}, finish_reason: call ? 'tool_calls' : 'stop' }]),
    ...(options?.include_usage ? [{ ...chunk([]), usage, timings: { prompt_ms: 12.5 } }] : []),
  ]
  return { chunks: [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n'] }
}

let ids = 0

function callPieces(call: LocalCall, prefix: string): JsonObject[] {
  if (!call) return []
  const { name, arguments: text } = describeCall(call)
  const first = { index: 0, id: `${prefix}${++ids}`, type: 'function', function: { name, arguments: '' } }
  const pieces = text.match(/.{1,9}/gsu) ?? []
  return [first, ...pieces.map((piece) => ({ index: 0, function: { arguments: piece } }))].map((piece) => ({
    tool_calls: [piece],
  }))
}

const describeCall = ({ name, input }: NonNullable<LocalCall>) => ({ name, arguments: JSON.stringify(input) })

const messagesOf = (body: JsonObject): JsonObject[] => body['messages'] as JsonObject[]
