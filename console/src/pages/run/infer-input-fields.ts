import { toObject } from '../../api/json.ts'
import type { Json, JsonObject, WedgeManifest } from '../../api/types.ts'
import { runText } from './text.ts'

export interface InputField {
  name: string
  type: 'string' | 'number' | 'boolean' | 'json'
  required: boolean
  hint: string | null
}

/**
 * The input fields of a task type. A wedge declares no input schema, so they are inferred from the schema of the workflow
 * with the same name, from the words `Input: a, b, c` in the description, and from the input of the last run.
 */
export function inferInputFields(manifest: WedgeManifest, taskType: string, last: Json): InputField[] {
  const schema = manifest.workflows?.find(({ name }) => name === taskType)?.input_schema
  const required = Array.isArray(schema?.['required']) ? schema['required'].map(String) : []
  const names = new Set([
    ...Object.keys(toObject(schema?.['properties'] ?? null)),
    ...describedInputNames(manifest, taskType),
    ...Object.keys(toObject(last)),
  ])
  return [...names].map((name) => ({
    name,
    type: fieldType(findProperty(manifest, name), toObject(last)[name]),
    required: required.includes(name),
    hint: fieldHint(findProperty(manifest, name)),
  }))
}

const NAME = /^[a-z][a-z0-9_]*$/

function describedInputNames(manifest: WedgeManifest, taskType: string, depth = 0): string[] {
  const description = manifest.task_types[taskType]?.description ?? ''
  const same = /same input as (\w+)/i.exec(description)?.[1]
  if (same && depth < 3) return describedInputNames(manifest, same, depth + 1)
  const listed = /\bInput: ([^.]+)/.exec(description)?.[1]?.split(',') ?? []
  const names = listed.map((word) => word.trim()).filter((word) => NAME.test(word) && word !== 'none')
  return names.length === listed.length ? names : []
}

/** Finds the schema of a field in any workflow of the wedge. */
function findProperty(manifest: WedgeManifest, name: string): JsonObject {
  const schemas = manifest.workflows?.map(({ input_schema }) => toObject(input_schema?.['properties'] ?? null)) ?? []
  return toObject(schemas.find((properties) => Object.hasOwn(properties, name))?.[name] ?? null)
}

function fieldType({ type }: JsonObject, last: Json | undefined): InputField['type'] {
  const declared = Array.isArray(type) ? type[0] : type
  if (declared === 'number' || declared === 'integer') return 'number'
  if (declared === 'boolean') return 'boolean'
  if (declared === 'object' || declared === 'array') return 'json'
  if (declared === undefined && last !== undefined && last !== null) {
    if (typeof last === 'object') return 'json'
    return typeof last === 'number' ? 'number' : typeof last === 'boolean' ? 'boolean' : 'string'
  }
  return 'string'
}

function fieldHint({ description, enum: allowed }: JsonObject): string | null {
  if (typeof description === 'string') return description
  return Array.isArray(allowed) ? runText.oneOf(allowed.map(String)) : null
}

/** An example input whose action needs approval. */
export function exampleInput(wedge: string): JsonObject | null {
  if (wedge !== 'refund-desk') return null
  return { order_id: 'A-1001', amount_usd: 84.5, reason: 'arrived damaged', customer_email: 'ada@example.com' }
}
