import { toObject } from '../api/json.ts'
import type { Json, JsonObject } from '../api/types.ts'
import { uiText } from './text.ts'

/** One field of a form that is made from a JSON Schema. */
export interface InputField {
  name: string
  type: 'string' | 'number' | 'boolean' | 'json'
  required: boolean
  isInteger: boolean
  hint: string | null
  /** The possible texts; null if any text is possible. */
  choices: string[] | null
}

/** Samples tell the types that the schema leaves open. */
export function fieldsOfSchema(schema: JsonObject, samples: JsonObject = {}): InputField[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(toObject(schema['properties'] ?? null)).map(([name, property]) =>
    toInputField(name, toObject(property), required.includes(name), samples[name]),
  )
}

/** The field of a property. A sample tells its type if the schema does not. */
export function toInputField(name: string, property: JsonObject, required: boolean, sample?: Json): InputField {
  const choices = textChoices(property)
  return {
    name,
    type: fieldType(property, sample),
    required,
    isInteger: declaredType(property) === 'integer',
    hint: fieldHint(property, choices),
    choices,
  }
}

function textChoices({ enum: allowed }: JsonObject): string[] | null {
  const texts = Array.isArray(allowed) ? allowed.filter((value) => typeof value === 'string') : []
  return Array.isArray(allowed) && texts.length === allowed.length && texts.length > 0 ? texts : null
}

const declaredType = ({ type }: JsonObject) => (Array.isArray(type) ? type[0] : type)

function fieldType(property: JsonObject, sample: Json | undefined): InputField['type'] {
  const declared = declaredType(property)
  // A schema may allow one value or a list of them.
  if (typeof sample === 'object' && sample !== null) return 'json'
  if (declared === 'number' || declared === 'integer') return 'number'
  if (declared === 'boolean') return 'boolean'
  if (declared === 'object' || declared === 'array') return 'json'
  if (declared === undefined) {
    return typeof sample === 'number' ? 'number' : typeof sample === 'boolean' ? 'boolean' : 'string'
  }
  return 'string'
}

function fieldHint({ description, enum: allowed }: JsonObject, choices: string[] | null): string | null {
  if (typeof description === 'string') return description
  return Array.isArray(allowed) && !choices ? uiText.oneOf(allowed.map(String)) : null
}
