import { tryParseJson } from '../base/json-fields.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { schemaErrors } from '../contract/output-schema.ts'
import { RunFailure } from './harness-run.ts'

/** What the model offers as its output, and what is wrong with it. */
export type OutputProposal = { value: Json; errors: { path: string; message: string }[] }

/** An output that came as the final text instead of a finish call, or as the answer of a decision. */
export function parseOutputText(text: string, schema: JsonObject | null): OutputProposal {
  const whole = text.trim()
  if (whole === '') return { value: '', errors: [{ path: '$', message: 'is empty' }] }
  if (schema === null) return { value: tryParseJson(whole) ?? text, errors: [] }
  const readings = [whole, insideFence(whole), insideBraces(whole)]
    .map(tryParseJson)
    .filter((value) => value !== undefined)
  return firstMatching(schema, [...readings, text])
}

/** Models forget the `output` envelope or hand over JSON as a string; each reading counts only if the schema is met. */
export function parseFinishCall(input: JsonObject, schema: JsonObject | null): OutputProposal {
  const given = input.output
  const value = given === undefined ? input : given
  if (schema === null) return { value, errors: [] }
  const reading = typeof value === 'string' ? tryParseJson(value) : undefined
  return firstMatching(schema, reading === undefined ? [value, input] : [value, reading, input])
}

/**
 * What is handed over when the repair turn is used up. With a schema the service finds the fault itself; without one it
 * would take an empty answer for an output.
 */
export function acceptLastOutput({ value, errors }: OutputProposal, schema: JsonObject | null): Json {
  if (schema === null && errors.length > 0) throw new RunFailure('model failed: the model gave an empty answer')
  return value
}

/** The first reading that meets the schema, else the first one with its errors. */
function firstMatching(schema: JsonObject, readings: Json[]): OutputProposal {
  const proposals = readings.map((value) => ({ value, errors: schemaErrors(schema, value) }))
  return proposals.find(({ errors }) => errors.length === 0) ?? proposals[0] ?? { value: null, errors: [] }
}

function insideFence(text: string): string {
  const start = text.indexOf('\n', text.indexOf('```'))
  return start === -1 ? '' : text.slice(start, text.lastIndexOf('```'))
}

function insideBraces(text: string): string {
  return text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)
}
