import { toObject } from '../../api/json.ts'
import type { JsonObject, WedgeManifest } from '../../api/types.ts'
import { fieldsOfSchema, type InputField, toInputField } from '../../ui/schema-fields.ts'

/**
 * The input fields of a task type: those of its input schema. Without one they are inferred from the schema of the
 * workflow with the same name, from the words `Input: a, b, c` in the description, and from the fields of sample inputs.
 */
export function inferInputFields(manifest: WedgeManifest, taskType: string, sample: JsonObject): InputField[] {
  const declared = manifest.task_types[taskType]?.input_schema
  if (declared) return fieldsOfSchema(declared)
  const schema = manifest.workflows?.find(({ name }) => name === taskType)?.input_schema
  const required = Array.isArray(schema?.['required']) ? schema['required'].map(String) : []
  const names = new Set([
    ...Object.keys(toObject(schema?.['properties'] ?? null)),
    ...describedInputNames(manifest, taskType),
    ...Object.keys(sample),
  ])
  return [...names].map((name) =>
    toInputField(name, findProperty(manifest, name), required.includes(name), sample[name]),
  )
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
