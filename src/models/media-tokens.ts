import { objectField, objectListField, textField } from '../base/json-fields.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import type { ModelProvider } from '../contract/agent-protocol.ts'

/**
 * The most tokens that a picture or a sound can be, whatever its bytes: one colour packs into a few hundred of them.
 * OpenAI's highest count is 48,169 (gpt-4o-mini, eight tiles), Anthropic's about 5,000.
 */
const MAX_MEDIA_BLOCK_TOKENS: Record<ModelProvider, number> = { anthropic: 10_000, openai: 50_000 }

/** No prompt is longer than the largest window of a model: the provider refuses it, and that costs nothing. */
export const MAX_CONTEXT_TOKENS = 1_050_000

/**
 * The most tokens that the pictures, sounds and documents in a request can be. Only content holds any: what a tool was
 * called with may have a `type` of its own.
 */
export function maxMediaTokens(wire: ModelProvider, body: JsonObject): number {
  const messages = objectListField(body, 'messages').map(({ content }) => contentTokens(wire, content))
  return messages.reduce((sum, tokens) => sum + tokens, contentTokens(wire, body.system))
}

/** Results of tools and documents have content in turn. */
function contentTokens(wire: ModelProvider, content: Json | undefined): number {
  if (!Array.isArray(content)) return 0
  const blocks = content.filter(isJsonObject).map((block) => {
    const inside = contentTokens(wire, block.content) + contentTokens(wire, objectField(block, 'source').content)
    return blockTokens(wire, block) + inside
  })
  return blocks.reduce((sum, tokens) => sum + tokens, 0)
}

function blockTokens(wire: ModelProvider, block: JsonObject): number {
  switch (block.type) {
    case 'image':
    case 'image_url':
    case 'input_audio':
      return MAX_MEDIA_BLOCK_TOKENS[wire]
    // A few kilobytes of PDF can hold hundreds of pages, so only the window bounds it.
    case 'file':
      return MAX_CONTEXT_TOKENS
    case 'document':
      return textField(objectField(block, 'source'), 'type') === 'base64' ? MAX_CONTEXT_TOKENS : 0
    default:
      return 0
  }
}
