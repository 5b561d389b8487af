import { tryParseJson } from '../../platform/base/json-fields.ts'
import type { Json, JsonObject } from '../../platform/base/json.ts'
import { schemaErrors } from '../../platform/contract/output-schema.ts'
import { RunFailure } from './harness-run.ts'

/** An output of the model and its schema errors. */
export type OutputProposal = { value: Json; errors: { path: string; message: string }[] }

/** Reads an output that was given as text instead of with a finish call. */
export function parseOutputText(text: string, schema: JsonObject | null): OutputProposal {
  const trimmed = text.trim()
  if (trimmed === '') return { value: '', errors: [{ path: '$', message: 'is empty' }] }
  if (schema === null) return { value: tryParseJson(trimmed) ?? text, errors: [] }
  const readings = [trimmed, insideFence(trimmed), insideBraces(trimmed)]
    .map(tryParseJson)
    .filter((value) => value !== undefined)
  return firstMatching(schema, [...readings, text])
}

/** Models may omit the `output` field or send JSON as a string; these readings are tried if the schema matches them. */
export function parseFinishCall(input: JsonObject, schema: JsonObject | null): OutputProposal {
  const value = input.output === undefined ? input : input.output
  if (schema === null) return { value, errors: [] }
  const reading = typeof value === 'string' ? tryParseJson(value) : undefined
  return firstMatching(schema, reading === undefined ? [value, input] : [value, reading, input])
}

/**
 * The output after the repair turn, even with errors: the service validates it against the schema. Without a schema the
 * service would accept an empty answer, so that is a failure here.
 */
export function acceptLastOutput({ value, errors }: OutputProposal, schema: JsonObject | null): Json {
  if (schema === null && errors.length > 0) throw new RunFailure('model failed: the model gave an empty answer')
  return value
}

/** The first reading that matches the schema, else the first reading with its errors. */
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
