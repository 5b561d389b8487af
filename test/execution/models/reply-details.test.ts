import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/platform/base/json.ts'
import { PROVIDER_FORMATS } from '../../../src/platform/contract/providers/provider-formats.ts'
import { createResponseReader } from '../../../src/execution/models/read-response.ts'
import { providerStreams, responsesReply, responsesStream } from './fake-provider.ts'

const anthropicReply: JsonObject = {
  model: 'claude-sonnet-4-5-20250929',
  stop_reason: 'max_tokens',
  content: [],
  usage: { input_tokens: 5, cache_creation_input_tokens: 7, cache_read_input_tokens: 11, output_tokens: 3 },
}
const openaiReply: JsonObject = {
  model: 'gpt-4o-2024-11-20',
  choices: [{ message: { content: 'hi' }, finish_reason: 'length' }],
}

test.each([
  ['anthropic', anthropicReply, { model: 'claude-sonnet-4-5-20250929', finishReason: 'max_tokens' }],
  ['openai', openaiReply, { model: 'gpt-4o-2024-11-20', finishReason: 'length' }],
  ['responses', responsesReply({ text: 'hi' }), { model: 'x', finishReason: 'completed' }],
  ['responses', responsesReply({ stop: 'max_output_tokens' }), { model: 'x', finishReason: 'max_output_tokens' }],
] as const)('a whole reply of %s names its model and why it ended', (api, body, details) => {
  expect(PROVIDER_FORMATS[api].parseResponse(body)).toMatchObject(details)
})

test.each([
  ['anthropic', providerStreams.anthropic({ text: 'hi' }), ['claude-sonnet-4-5-20250929', 'end_turn']],
  ['openai', providerStreams.openai({ text: 'hi', stop: 'length' }), ['gpt-4o-2024-11-20', 'length']],
  ['responses', responsesStream({ text: 'hi' }), ['x', 'completed']],
] as const)('a streamed reply of %s names its model and why it ended', (api, stream, details) => {
  const { reply, read } = createResponseReader(api)
  read(Buffer.from(stream))
  expect([reply.model, reply.finishReason]).toEqual(details)
})

test('a model or reason that does not look like a name is left out', () => {
  const reply = { ...anthropicReply, model: 'a sentence, not a name', stop_reason: 'x'.repeat(200) }
  expect(PROVIDER_FORMATS.anthropic.parseResponse(reply)).toMatchObject({ model: null, finishReason: null })
})
