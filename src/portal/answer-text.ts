import { nameToWords } from '../approvals/action-text.ts'
import { isJsonObject, type Json } from '../base/json.ts'
import type { Language } from '../brand/rows.ts'

const YES_AND_NO: Record<Language, { yes: string; no: string }> = {
  en: { yes: 'Yes', no: 'No' },
  de: { yes: 'Ja', no: 'Nein' },
  fr: { yes: 'Oui', no: 'Non' },
  es: { yes: 'Sí', no: 'No' },
}

/** The fields of a form as lines with their labels, because the client and the team read the answer as a message. */
export function describeAnswer(answer: Json, schema: Json | undefined, language: Language): string {
  if (typeof answer === 'boolean') return YES_AND_NO[language][answer ? 'yes' : 'no']
  const { properties, items } = isJsonObject(schema) ? schema : {}
  if (Array.isArray(answer)) return answer.map((item) => describeAnswer(item, items, language)).join(', ')
  if (!isJsonObject(answer)) return String(answer ?? '')
  const fields = isJsonObject(properties) ? properties : {}
  return Object.entries(answer)
    .map(([name, value]) => `${labelOf(name, fields[name])}: ${describeAnswer(value, fields[name], language)}`)
    .join('\n')
}

function labelOf(name: string, property: Json | undefined): string {
  if (isJsonObject(property) && typeof property.title === 'string') return property.title
  const words = nameToWords(name)
  return words.charAt(0).toUpperCase() + words.slice(1)
}
