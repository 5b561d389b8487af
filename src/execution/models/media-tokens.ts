import { objectField, objectListField, textField } from '../../platform/base/json-fields.ts'
import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import type { ModelProvider } from '../../platform/contract/agent-protocol.ts'
import { type ModelApi, PROVIDER_FORMATS } from '../../platform/contract/providers/provider-formats.ts'

/**
 * The most tokens of one image or audio block. Its size in bytes says little: a large image of one colour has a few
 * hundred bytes. The highest count of OpenAI is 48,169 (gpt-4o-mini, eight tiles), that of Anthropic about 5,000.
 */
const MAX_MEDIA_BLOCK_TOKENS: Record<ModelProvider, number> = { anthropic: 10_000, openai: 50_000 }

/** A page of a PDF is sent as an image and as its text. */
const MAX_PAGE_TEXT_TOKENS = 3_000

/** The largest context window of any model: providers refuse longer prompts without charging for them. */
export const MAX_CONTEXT_TOKENS = 1_050_000

export const maxImageTokens = (wire: ModelProvider): number => MAX_MEDIA_BLOCK_TOKENS[wire]

/** The most tokens of a PDF with at most this many pages; null: the number is not known. */
export function maxPdfTokens(wire: ModelProvider, pages: number | null): number {
  // A PDF of a few kilobytes can have hundreds of pages, so only the context window limits one that cannot be read.
  if (pages === null) return MAX_CONTEXT_TOKENS
  return Math.min(pages * (MAX_MEDIA_BLOCK_TOKENS[wire] + MAX_PAGE_TEXT_TOKENS), MAX_CONTEXT_TOKENS)
}

/**
 * The most tokens that the images, audio and documents in a request can have. Only `content` and `output` are searched:
 * the input of a tool call may have a `type` field with another meaning.
 */
export function maxMediaTokens(api: ModelApi, body: JsonObject): number {
  const { provider, messagesField } = PROVIDER_FORMATS[api]
  const messages = objectListField(body, messagesField).map(
    ({ content, output }) => contentTokens(provider, content) + contentTokens(provider, output),
  )
  return messages.reduce((sum, tokens) => sum + tokens, contentTokens(provider, body.system))
}

/** Tool results and documents contain content themselves. */
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
    case 'input_image':
    case 'input_audio':
      return MAX_MEDIA_BLOCK_TOKENS[wire]
    // A PDF of a few kilobytes can have hundreds of pages, so only the context window limits it.
    case 'file':
    case 'input_file':
      return MAX_CONTEXT_TOKENS
    case 'document':
      return textField(objectField(block, 'source'), 'type') === 'base64' ? MAX_CONTEXT_TOKENS : 0
    default:
      return 0
  }
}
