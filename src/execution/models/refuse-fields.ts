import { objectField, objectListField, textField } from '../../platform/base/json-fields.ts'
import type { Json, JsonObject } from '../../platform/base/json.ts'
import { Problem } from '../../platform/base/problem.ts'
import type { ModelProvider } from '../../platform/contract/agent-protocol.ts'
import type { ModelApi } from '../../platform/contract/providers/provider-formats.ts'
import { REQUEST_RULES } from './request-rules.ts'

/**
 * Throws a 400 for a field that is not passed on and whose absence would change the meaning of the request. An unknown field
 * may do that too.
 */
export function refuseFields(api: ModelApi, requested: JsonObject): void {
  const { forwarded, replaced, dropped, refused } = REQUEST_RULES[api]
  const known = new Set([...forwarded, ...replaced, ...Object.values(dropped).flat()])
  for (const [field, value] of Object.entries(requested)) {
    if (known.has(field) || value === null) continue
    if (!Object.hasOwn(refused, field)) throw refuseField(field, 'is unknown and is not passed on: leave it out')
    if (!meansNothing(field, value)) throw refuseField(field, refused[field] ?? '')
  }
  for (const edit of objectListField(objectField(requested, 'context_management'), 'edits')) refuseCompaction(edit)
}

/** Libraries send some fields with the value that the provider assumes without them. */
function meansNothing(field: string, value: Json): boolean {
  const text = JSON.stringify(value)
  return text === 'false' || text === '[]' || text === PROVIDER_DEFAULTS[field]
}

const PROVIDER_DEFAULTS: Record<string, string> = { n: '1', modalities: '["text"]' }

/** Other edits of Anthropic remove parts of the conversation. This one lets the model write text that the usage does not count. */
function refuseCompaction(edit: JsonObject): void {
  const type = textField(edit, 'type')
  if (!type.startsWith('clear_'))
    throw refuseField('context_management', `must not have edits of type '${type}', only those that clear something`)
}

function refuseField(field: string, sentence: string): Problem {
  const name = field.slice(0, MAX_NAME_CHARS)
  // Anthropic's library reads these details and sends the whole conversation again without a thread.
  const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }
  const extra = field === 'thread' ? { param: name, details } : { param: name }
  return new Problem(400, `field '${name}' ${sentence}`, { extra })
}

const MAX_NAME_CHARS = 64

/** A refused request as the provider would refuse it, because libraries read only its form. */
export function toProviderRefusal(provider: ModelProvider, { message, extra, headers }: Problem): Problem {
  const { param = null, details } = extra
  const type = 'invalid_request_error'
  const body =
    provider === 'anthropic'
      ? { type: 'error', error: { type, message, ...(details !== undefined && { details }) } }
      : { error: { message, type, param, code: null } }
  return new Problem(400, message, { extra: body, headers })
}
