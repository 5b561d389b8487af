import { type Language, MESSAGE_TEXTS } from '../../../client-text/languages.ts'
import { nameToWords } from '../../approvals/policy/action-text.ts'
import { isJsonObject, type Json, ownField } from '../../platform/base/json.ts'
import { listField, objectField } from '../../platform/base/json-fields.ts'

const EMPTY = '–'

/** The fields of a form as lines with their labels, because the client and the team read the answer as a message. */
export function describeAnswer(answer: Json, schema: Json | undefined, language: Language): string {
  if (typeof answer === 'boolean') return MESSAGE_TEXTS[language][answer ? 'yes' : 'no']
  if (Array.isArray(answer)) return describeList('', answer, schema, language)
  if (!isJsonObject(answer)) return choiceTitle(answer, schema) ?? String(answer ?? '')
  const fields = isJsonObject(schema) ? objectField(schema, 'properties') : {}
  const lines = Object.entries(answer).map(([name, value]) => {
    const field = ownField(fields, name)
    return describeField(labelOf(name, field), value, field, language)
  })
  return lines.length > 0 ? lines.join('\n') : EMPTY
}

/** `Label: value`; more lines than one are indented below the label. */
function describeField(label: string, value: Json, schema: Json | undefined, language: Language): string {
  if (isGroupList(value)) return describeList(label, value, schema, language)
  const text = describeAnswer(value, schema, language)
  const isBlock = text.includes('\n') || (isJsonObject(value) && text !== EMPTY)
  return isBlock ? `${label}:\n${text.replaceAll(/^/gm, '  ')}` : `${label}: ${text}`
}

/** Values with commas between them, or objects one below the other, as `Guest 1`, `Guest 2`. */
function describeList(label: string, list: readonly Json[], schema: Json | undefined, language: Language): string {
  const items = isJsonObject(schema) ? schema.items : undefined
  if (list.length === 0) return EMPTY
  if (!isGroupList(list)) return list.map((item) => describeAnswer(item, items, language)).join(', ')
  const name = titleOf(items) ?? label
  return list.map((item, n) => describeField(`${name} ${n + 1}`.trim(), item, items, language)).join('\n')
}

const isGroupList = (value: Json | readonly Json[]): value is Json[] =>
  Array.isArray(value) && value.some((item) => typeof item === 'object' && item !== null)

/** The title of a value in `oneOf`, which the person chose. */
function choiceTitle(value: Json, schema: Json | undefined): string | null {
  const choices = isJsonObject(schema) ? listField(schema, 'oneOf') : []
  return titleOf(choices.find((choice) => isJsonObject(choice) && choice.const === value))
}

function labelOf(name: string, property: Json | undefined): string {
  const title = titleOf(property)
  if (title !== null) return title
  const words = nameToWords(name)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const titleOf = (schema: Json | undefined): string | null =>
  isJsonObject(schema) && typeof schema.title === 'string' ? schema.title : null
