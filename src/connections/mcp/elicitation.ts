import { isJsonObject, type Json, type JsonObject, ownField } from '../../platform/base/json.ts'
import type { AskPerson } from '../calls/executor.ts'
import { cleanJson, cleanText } from './clean-text.ts'
import type { SessionState } from './session-state.ts'

/** A server that asks more often during one call gets no answer. */
const MAX_QUESTIONS = 5
const MAX_QUESTION_CHARACTERS = 2_000

type ElicitationAnswer = { action: 'accept'; content: Record<string, string | number | boolean | string[]> } | Refusal
type Refusal = { action: 'decline' | 'cancel' }

/**
 * Asks a person what the server wants to know. Only forms: a server must not send people to an address. Without an
 * answer the server gets `decline`, and `cancel` when the run has ended.
 */
export async function answerElicitation(
  askPerson: AskPerson | undefined,
  state: SessionState,
  params: { mode?: string | undefined; message: string; requestedSchema?: unknown },
  cancelled: AbortSignal,
): Promise<ElicitationAnswer> {
  state.questions++
  const question = cleanText(params.message).trim().slice(0, MAX_QUESTION_CHARACTERS)
  const schema = toQuestionSchema(params.requestedSchema)
  if (!askPerson || params.mode === 'url' || !schema || question === '' || state.questions > MAX_QUESTIONS)
    return { action: 'decline' }
  const withdrawn = AbortSignal.any([cancelled, state.ended.signal])
  const asked = askPerson({ question, schema, number: state.questions, withdrawn }).catch(() => 'cancel' as const)
  state.openQuestions.add(asked)
  const answer = await asked.finally(() => state.openQuestions.delete(asked))
  if (answer === 'cancel') return { action: 'cancel' }
  return isJsonObject(answer) ? { action: 'accept', content: toContent(answer) } : { action: 'decline' }
}

/** The keywords of the request that the schema check and the form know; null if it is not a form. */
function toQuestionSchema(requested: unknown): JsonObject | null {
  if (!isJsonObject(requested) || !isJsonObject(requested.properties)) return null
  const properties = Object.fromEntries(
    Object.entries(requested.properties).map(([name, field]) => [cleanText(name), toField(field)]),
  )
  const required = Array.isArray(requested.required) ? requested.required.filter((key) => typeof key === 'string') : []
  return { type: 'object', properties, required: required.map(cleanText) }
}

function toField(field: Json): JsonObject {
  if (!isJsonObject(field)) return { type: 'string' }
  const choices = listChoices(field)
  const kept = Object.entries(field).filter(
    ([key, value]) => ['type', 'title', 'description', 'default', 'format'].includes(key) && !isJsonObject(value),
  )
  const cleaned = Object.fromEntries(kept.map(([key, value]) => [key, cleanJson(value)]))
  const items = isJsonObject(field.items) ? { items: toField(field.items) } : {}
  return { ...cleaned, ...items, ...(choices && { enum: choices }) }
}

/** `enum`, or the constants of `oneOf` and `anyOf`, which give each choice a title. */
function listChoices(field: JsonObject): Json[] | null {
  const titled = ownField(field, 'oneOf') ?? ownField(field, 'anyOf')
  const choices = Array.isArray(titled)
    ? titled.flatMap((one) => (isJsonObject(one) && one.const !== undefined ? [one.const] : []))
    : ownField(field, 'enum')
  return Array.isArray(choices) ? choices.filter((choice) => typeof choice === 'string') : null
}

/** A form has no nested values; other values would not be valid. */
function toContent(answer: JsonObject): Record<string, string | number | boolean | string[]> {
  const content: Record<string, string | number | boolean | string[]> = {}
  for (const [key, value] of Object.entries(answer)) {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') content[key] = value
    else if (Array.isArray(value)) content[key] = value.filter((item) => typeof item === 'string')
  }
  return content
}
