import { toObject, toText } from '../api/json.ts'
import type { Json, JsonObject } from '../api/types.ts'
import { humanize } from './humanize.ts'
import { uiText } from './text.ts'

/** The words of a form that is made from a JSON Schema. */
export type FieldText = typeof uiText.question.fields

/** One field of a form that is made from a JSON Schema. */
export interface InputField {
  name: string
  /** The schema's `title`, or else the name in words. */
  label: string
  /** `lines` is a list of texts, one in each line; `object` has `fields`. */
  type: 'string' | 'number' | 'boolean' | 'lines' | 'object' | 'json'
  required: boolean
  isInteger: boolean
  hint: string | null
  /** The schema's `default`, which is what an empty field means. */
  default: Json
  /** The possible values; null if any value of the type is possible. */
  choices: FieldChoice[] | null
  /** The fields of an object. */
  fields: InputField[]
  /** `x-multiline` of the schema, for texts such as a certificate. */
  isMultiline: boolean
  /** `x-advanced` of the schema: most people leave it empty. */
  isAdvanced: boolean
}

export interface FieldChoice {
  value: string | boolean
  label: string
}

/** Samples tell the types that the schema leaves open. */
export function fieldsOfSchema(
  schema: JsonObject,
  samples: JsonObject = {},
  text: FieldText = uiText.question.fields,
): InputField[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(toObject(schema['properties'] ?? null)).map(([name, property]) =>
    toInputField(name, toObject(property), required.includes(name), samples[name], text),
  )
}

/** The field of a property. A sample tells its type if the schema does not. */
export function toInputField(
  name: string,
  property: JsonObject,
  required: boolean,
  sample?: Json,
  text: FieldText = uiText.question.fields,
): InputField {
  const choices = fieldChoices(property)
  const type = fieldType(property, sample)
  const { title } = property
  return {
    name,
    label: typeof title === 'string' ? title : humanize(name),
    type,
    required,
    isInteger: declaredType(property) === 'integer',
    hint: fieldHint(property, choices, text),
    default: property['default'] ?? null,
    choices,
    fields: type === 'object' ? fieldsOfSchema(property, {}, text) : [],
    isMultiline: property['x-multiline'] === true,
    isAdvanced: property['x-advanced'] === true,
  }
}

/** The texts of `enum`, or the values of `oneOf` with their titles. */
function fieldChoices({ enum: allowed, oneOf }: JsonObject): FieldChoice[] | null {
  const all = Array.isArray(oneOf)
    ? oneOf.map(toObject).map(({ const: value, title }) => ({ value, label: toText(title) }))
    : Array.isArray(allowed)
      ? allowed.map((value) => ({ value, label: toText(value) }))
      : []
  const choices = all.flatMap(({ value, label }): FieldChoice[] =>
    typeof value === 'string' || (Array.isArray(oneOf) && typeof value === 'boolean') ? [{ value, label }] : [],
  )
  return choices.length === all.length && choices.length > 0 ? choices : null
}

const declaredType = ({ type }: JsonObject) => (Array.isArray(type) ? type[0] : type)

function fieldType(property: JsonObject, sample: Json | undefined): InputField['type'] {
  const declared = declaredType(property)
  // A schema may allow one value or a list of them.
  if (typeof sample === 'object' && sample !== null) return 'json'
  if (declared === 'number' || declared === 'integer') return 'number'
  if (declared === 'boolean') return 'boolean'
  if (declared === 'array' && declaredType(toObject(property['items'] ?? null)) === 'string') return 'lines'
  if (declared === 'object') return Object.keys(toObject(property['properties'])).length > 0 ? 'object' : 'json'
  if (declared === 'array') return 'json'
  if (declared === undefined) {
    return typeof sample === 'number' ? 'number' : typeof sample === 'boolean' ? 'boolean' : 'string'
  }
  return 'string'
}

function fieldHint(
  { description, enum: allowed }: JsonObject,
  choices: FieldChoice[] | null,
  text: FieldText,
): string | null {
  if (typeof description === 'string') return description
  return Array.isArray(allowed) && !choices ? `${text.oneOf} ${allowed.map(String).join(', ')}` : null
}
