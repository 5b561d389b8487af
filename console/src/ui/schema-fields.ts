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
  /**
   * `lines` is a list of texts, one in each line; `list` has an `item`; `object` has `fields`; `entries` is an object whose
   * names a person enters too, and has an `item` with a name and a value.
   */
  type: 'string' | 'number' | 'boolean' | 'lines' | 'list' | 'object' | 'entries' | 'json'
  required: boolean
  isInteger: boolean
  hint: string | null
  /** The schema's `default`, which is what an empty field means. */
  default: Json
  /** The possible values; null if any value of the type is possible. */
  choices: FieldChoice[] | null
  /** The fields of an object. */
  fields: InputField[]
  /** The field of each item of a list, with the title of the items or else of the list; null if it is no list. */
  item: InputField | null
  /** How many items a list has; `maxItems` is null if there is no limit. */
  minItems: number
  maxItems: number | null
  /** What is wrong with the value. The first control of the field shows it when the form is submitted. */
  problem?: string | null
  /** `x-multiline` of the schema, for texts such as a certificate. */
  isMultiline: boolean
  /** `x-advanced` of the schema: most people leave it empty. */
  isAdvanced: boolean
}

export interface FieldChoice {
  value: string | number | boolean
  label: string
}

export interface FormOptions {
  text: FieldText
  /** Whether an object without properties and a list of any items are edited as JSON. */
  asksForJson: boolean
}

const TEAM_FORM: FormOptions = { text: uiText.question.fields, asksForJson: true }

/** Samples tell the types that the schema leaves open. */
export function fieldsOfSchema(schema: JsonObject, samples: JsonObject = {}, form = TEAM_FORM): InputField[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(toObject(schema['properties'] ?? null)).map(([name, property]) =>
    toInputField(name, toObject(property), required.includes(name), samples[name], form),
  )
}

/** The field of a property. A sample tells its type if the schema does not. */
export function toInputField(
  name: string,
  property: JsonObject,
  required: boolean,
  sample?: Json,
  form = TEAM_FORM,
): InputField {
  const choices = fieldChoices(property)
  const type = fieldType(property, sample, form)
  const { title, minItems, maxItems } = property
  const label = typeof title === 'string' ? title : humanize(name)
  return {
    name,
    label,
    type,
    required,
    isInteger: declaredType(property) === 'integer',
    hint: fieldHint(property, choices, form.text),
    default: property['default'] ?? null,
    choices,
    fields: type === 'object' ? fieldsOfSchema(property, {}, form) : [],
    item:
      type === 'list' || type === 'entries'
        ? toInputField(name, itemSchema(property, label, form.text), true, undefined, form)
        : null,
    minItems: listLimit(minItems) ?? 0,
    maxItems: listLimit(maxItems),
    isMultiline: property['x-multiline'] === true,
    isAdvanced: property['x-advanced'] === true,
  }
}

const listLimit = (limit: Json): number | null =>
  typeof limit === 'number' && Number.isInteger(limit) && limit >= 0 ? limit : null

/** An object without properties is a list of objects with a name and a value. */
function itemSchema(property: JsonObject, label: string, { name, value }: FieldText): JsonObject {
  if (declaredType(property) === 'array') return { title: label, ...toObject(property['items']) }
  const values = { title: value, ...toObject(property['additionalProperties']) }
  const properties = { name: { type: 'string', title: name }, value: values }
  return { type: 'object', title: label, required: ['name', 'value'], properties }
}

/** The texts and numbers of `enum`, or the values of `oneOf` with their titles. */
function fieldChoices({ enum: allowed, oneOf }: JsonObject): FieldChoice[] | null {
  const all = Array.isArray(oneOf)
    ? oneOf.map(toObject).map(({ const: value, title }) => ({ value, label: toText(title) }))
    : Array.isArray(allowed)
      ? allowed.map((value) => ({ value, label: toText(value) }))
      : []
  const choices = all.flatMap(({ value, label }): FieldChoice[] =>
    typeof value === 'string' || typeof value === 'number' || (Array.isArray(oneOf) && typeof value === 'boolean')
      ? [{ value, label }]
      : [],
  )
  return choices.length === all.length && choices.length > 0 ? choices : null
}

/** The first `type` of a schema, or else the one that its other keywords are for. */
function declaredType({ type, properties, items, enum: allowed }: JsonObject): Json {
  if (type !== undefined) return Array.isArray(type) ? type[0] : type
  if (properties !== undefined) return 'object'
  if (items !== undefined) return 'array'
  if (!Array.isArray(allowed) || allowed.length === 0) return undefined
  return ['number', 'boolean'].find((kind) => allowed.every((value) => typeof value === kind))
}

function fieldType(property: JsonObject, sample: Json, { asksForJson }: FormOptions): InputField['type'] {
  const declared = declaredType(property)
  // A schema may allow one value or a list of them.
  if (typeof sample === 'object' && sample !== null) return 'json'
  if (declared === 'number' || declared === 'integer') return 'number'
  if (declared === 'boolean') return 'boolean'
  if (declared === 'array') return listType(toObject(property['items']), asksForJson)
  if (declared === 'object') return !hasOpenNames(property) ? 'object' : asksForJson ? 'json' : 'entries'
  if (declared === undefined) {
    return typeof sample === 'number' ? 'number' : typeof sample === 'boolean' ? 'boolean' : 'string'
  }
  return 'string'
}

/** Items of any type are texts if they are not JSON. */
function listType(item: JsonObject, asksForJson: boolean): InputField['type'] {
  const type = declaredType(item)
  if (fieldChoices(item) !== null) return 'list'
  if (type === undefined) return asksForJson ? 'json' : 'lines'
  return type === 'string' ? 'lines' : 'list'
}

const hasOpenNames = ({ properties, additionalProperties }: JsonObject) =>
  Object.keys(toObject(properties)).length === 0 && additionalProperties !== false

function fieldHint(
  { description, enum: allowed }: JsonObject,
  choices: FieldChoice[] | null,
  text: FieldText,
): string | null {
  if (typeof description === 'string') return description
  return Array.isArray(allowed) && !choices ? `${text.oneOf} ${allowed.map(String).join(', ')}` : null
}
