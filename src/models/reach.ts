import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { badRequest } from '../base/problem.ts'
import { objectOf, objectsOf, textOf } from '../base/fields.ts'

/**
 * A sandbox has no network, so the provider must not be its way out: no tools that run at the provider, nothing that
 * the provider would fetch from an address or from the account's files. What the model reads is in the request.
 */
export function refuseOutsideReach(body: JsonObject): void {
  for (const tool of objectsOf(body, 'tools')) refuseForeignTool(tool)
  for (const message of objectsOf(body, 'messages')) refuseReferences(message.content)
  refuseReferences(body.system)
}

/** Tools of these types are carried out by the caller; every other type is the provider's to carry out. */
const OWN_TOOL = /^(function|custom|(bash|text_editor|computer|memory)_\d+)$/

function refuseForeignTool(tool: JsonObject): void {
  if (tool.type === undefined || OWN_TOOL.test(textOf(tool, 'type'))) return
  throw badRequest(`tool '${textOf(tool, 'type')}' would run outside the service and is not allowed`)
}

function refuseReferences(content: Json | undefined): void {
  if (!Array.isArray(content)) return
  for (const block of content) if (isJsonObject(block)) refuseReference(block)
}

function refuseReference(block: JsonObject): void {
  const type = textOf(block, 'type')
  if (refersOutside(type, block)) throw badRequest(`content of type '${type}' must be in the request itself`)
  refuseReferences(block.content)
}

const INLINE_SOURCES = ['base64', 'text', 'content']

function refersOutside(type: string, block: JsonObject): boolean {
  switch (type) {
    case 'image':
    case 'document':
      refuseReferences(objectOf(block, 'source').content)
      return !INLINE_SOURCES.includes(textOf(objectOf(block, 'source'), 'type'))
    case 'image_url':
      return !textOf(objectOf(block, 'image_url'), 'url').startsWith('data:')
    case 'file':
      return textOf(objectOf(block, 'file'), 'file_data') === ''
    default:
      return !INLINE_BLOCKS.includes(type)
  }
}

const INLINE_BLOCKS = [
  'text',
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'search_result',
  'input_audio',
  'refusal',
]
