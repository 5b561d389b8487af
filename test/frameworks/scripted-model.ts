import type { Json, JsonObject } from '../../src/platform/base/json.ts'
import { REHEARSED_RESPONSES } from '../../src/execution/models/rehearsal/rehearsed-response.ts'
import { type FakeProvider, fakeProvider, type ProviderReply } from '../execution/models/fake-provider.ts'

/** The API by which a framework calls its model. */
export type Wire = 'responses' | 'chat' | 'messages'

/** For each API: the model of the run, the path of its calls, and the format of its answers. */
const WIRES = {
  responses: { model: 'openai/gpt-4.1', path: '/v1/responses', format: REHEARSED_RESPONSES.responses },
  chat: { model: 'openai/gpt-4.1', path: '/v1/chat/completions', format: REHEARSED_RESPONSES.openai },
  messages: { model: 'anthropic/claude-sonnet-5-5', path: '/v1/messages', format: REHEARSED_RESPONSES.anthropic },
}

/** A call of a tool; its name at the provider may have a prefix, which the framework chooses. */
export interface ScriptedCall {
  tool: string
  input: Json
}

/**
 * A provider that makes one tool call after the other and then says "Done.". It continues after the tool results of the
 * request, so that it may be asked the same twice. `env` are the settings of a service that uses it.
 */
export async function scriptedModel(
  wire: Wire,
  calls: ScriptedCall[],
): Promise<FakeProvider & { env: Record<string, string> }> {
  const { model } = WIRES[wire]
  const provider = await fakeProvider(({ path, body }) => replyTo(wire, calls, path, body))
  const keys = { ANTHROPIC_API_KEY: 'sk-canary', OPENAI_API_KEY: 'sk-canary' }
  const addresses = { ANTHROPIC_BASE_URL: provider.url, OPENAI_BASE_URL: `${provider.url}/v1` }
  return { ...provider, env: { SVC_MODEL: model, ...keys, ...addresses } }
}

function replyTo(wire: Wire, calls: ScriptedCall[], path: string, body: JsonObject): ProviderReply {
  const { path: expected, format } = WIRES[wire]
  if (path.split('?')[0] !== expected) return { status: 404, json: { error: { message: `no ${path} in this test` } } }
  const turn = countResults(body) + 1
  const offered = toolNames(body)
  // A request without tools is a question on the side, such as for a title.
  const next = offered.length > 0 ? calls[turn - 1] : undefined
  const name = offered.find((tool) => next && tool.endsWith(next.tool))
  if (next && name === undefined)
    return { status: 400, json: { error: { message: `'${next.tool}' is not among ${offered.join(', ')}` } } }
  const call = next && name ? { id: `call_${turn}`, name, input: next.input } : null
  const reply = { turn, text: call ? '' : 'Done.', call }
  return body['stream'] === true
    ? { chunks: [format.toResponseStream(reply)] }
    : { json: format.toWholeResponse(reply) }
}

/** The tool results in a request of any of the three APIs. */
const countResults = (body: JsonObject): number =>
  JSON.stringify(body['input'] ?? body['messages']).match(
    /"type":"(?:function_call_output|tool_result)"|"role":"tool"/g,
  )?.length ?? 0

function toolNames(body: JsonObject): string[] {
  const offered = (body['tools'] as JsonObject[] | undefined) ?? []
  return offered.map((entry) => String(entry['name'] ?? Object(entry['function'])['name']))
}
