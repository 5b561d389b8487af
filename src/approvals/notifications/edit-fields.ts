import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import { objectField } from '../../platform/base/json-fields.ts'
import { badRequest } from '../../platform/base/problem.ts'

/** A field that a person can change in a chat. Lists and objects are edited in the console. */
export interface EditField {
  name: string
  kind: 'text' | 'number'
  /** What it is now; empty if it has no value yet. */
  value: string
  /** The possible values; null: any. */
  options: string[] | null
}

/** What a person entered in a field: a text, or the number of an option. */
export interface FieldInput {
  /** The place in the list of `listEditFields`. The name of a field may be longer than a button can carry. */
  field: number
  value: string
}

/** The fields of a payload that a chat can change: the top-level texts and numbers, or the answer to a question. */
export function listEditFields(path: string, payload: Json): EditField[] {
  if (!isJsonObject(payload)) return []
  if (path === 'question') return answerField(payload)
  if (path !== 'action') return []
  return Object.entries(payload).flatMap(([name, value]): EditField[] => {
    if (typeof value === 'string') return [{ name, kind: 'text', value, options: null }]
    return typeof value === 'number' ? [{ name, kind: 'number', value: String(value), options: null }] : []
  })
}

/** An answer that is a list or an object needs the form of the console. */
function answerField(question: JsonObject): EditField[] {
  const options = Array.isArray(question.options) ? question.options.filter((one) => typeof one === 'string') : null
  const { type = 'string' } = objectField(question, 'schema')
  if (type === 'number' || type === 'integer') return [{ name: 'answer', kind: 'number', value: '', options }]
  return type === 'string' ? [{ name: 'answer', kind: 'text', value: '', options }] : []
}

/** The fields that a person changed, as `edited` of a decision; throws a 400 for a number that is none. */
export function toEdited(fields: readonly EditField[], inputs: readonly FieldInput[]): JsonObject {
  const edited: JsonObject = {}
  for (const { field: place, value } of inputs) {
    const field = fields[place]
    if (!field) throw badRequest('the request has no such field any more')
    if (field.options || value !== field.value) edited[field.name] = parseInput(field, value)
  }
  return edited
}

function parseInput({ name, kind, options }: EditField, value: string): Json {
  if (options) return options[Number(value)] ?? ''
  if (kind === 'text') return value
  const number = value.trim() === '' ? Number.NaN : Number(value.trim())
  if (!Number.isFinite(number)) throw badRequest(`'${name}' must be a number`)
  return number
}
