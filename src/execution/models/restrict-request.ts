import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { FILE_BLOCK_TYPE } from '../../platform/contract/providers/conversation.ts'
import { type ModelApi, PROVIDER_FORMATS } from '../../platform/contract/providers/provider-formats.ts'
import { objectField, objectListField, textField } from '../../platform/base/json-fields.ts'

/**
 * A sandbox has no network, so it must not reach the network through the provider: no tools that run at the provider,
 * and no content that the provider would fetch from a URL or from files of the account.
 */
export function refuseOutsideContent(api: ModelApi, body: JsonObject): void {
  for (const tool of objectListField(body, 'tools')) refuseProviderTool(tool)
  for (const message of objectListField(body, PROVIDER_FORMATS[api].messagesField)) refuseMessage(api, message)
  refuseReferences(body.system)
  if (typeof (body.instructions ?? '') !== 'string')
    throw badRequest("field 'instructions' must be a text: send messages as `input`")
}

function refuseMessage(api: ModelApi, message: JsonObject): void {
  const type = textField(message, 'type')
  if (api === 'responses' && !INLINE_ITEMS.includes(type))
    throw badRequest(`input of type '${type}' belongs to a tool that runs at the provider and is not allowed`)
  refuseReferences(message.content)
  refuseReferences(message.output)
}

/** A message of the Responses API may have no type. */
const INLINE_ITEMS = [
  '',
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
]

/** The caller executes tools of these types; the provider executes most others. */
const CALLER_TOOL_TYPES = /^(function|custom|(bash|text_editor|computer|memory)_\d+)$/

function refuseProviderTool(tool: JsonObject): void {
  if (tool.type === undefined || CALLER_TOOL_TYPES.test(textField(tool, 'type'))) return
  throw badRequest(
    `tool '${textField(tool, 'type')}' is not allowed: use function tools, or custom tools that your program executes`,
  )
}

function refuseReferences(content: Json | undefined): void {
  if (!Array.isArray(content)) return
  for (const block of content) if (isJsonObject(block)) refuseReference(block)
}

function refuseReference(block: JsonObject): void {
  const type = textField(block, 'type')
  if (refersOutside(type, block))
    throw badRequest(`content of type '${type}' must be included in the request, not referenced`)
  refuseReferences(block.content)
}

const INLINE_SOURCES = ['base64', 'text', 'content']

function refersOutside(type: string, block: JsonObject): boolean {
  switch (type) {
    case 'image':
    case 'document':
      refuseReferences(objectField(block, 'source').content)
      return !INLINE_SOURCES.includes(textField(objectField(block, 'source'), 'type'))
    case 'image_url':
      return !textField(objectField(block, 'image_url'), 'url').startsWith('data:')
    case 'input_image':
      return hasReference(block) || !textField(block, 'image_url').startsWith('data:')
    case 'input_file':
      return isOutsideFile(block)
    case 'file':
      return isOutsideFile(objectField(block, 'file'))
    default:
      return !INLINE_BLOCKS.includes(type)
  }
}

const isOutsideFile = (file: JsonObject): boolean => hasReference(file) || textField(file, 'file_data') === ''

/** A provider may use a reference although the content is included too. */
const hasReference = (part: JsonObject): boolean =>
  ['file_id', 'file_url'].some((field) => (part[field] ?? null) !== null)

const INLINE_BLOCKS = [
  FILE_BLOCK_TYPE,
  'text',
  'input_text',
  'output_text',
  'reasoning_text',
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'search_result',
  'input_audio',
  'refusal',
]
