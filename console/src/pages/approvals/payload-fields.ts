import { toObject } from '../../api/json.ts'
import type { JsonObject } from '../../api/types.ts'
import { fieldsOfSchema, type InputField, toInputField } from '../../ui/schema-fields.ts'

/** The fields of the form that edits a payload: those that the schema declares, and those that the payload has. */
export function payloadFields(payload: JsonObject, schema: JsonObject | null): InputField[] {
  const properties = toObject(schema?.['properties'])
  const declared = schema === null ? [] : fieldsOfSchema(schema, payload)
  const others = Object.entries(payload).filter(([name]) => !Object.hasOwn(properties, name))
  return [...declared, ...others.map(([name, value]) => toInputField(name, {}, false, value))]
}

/**
 * The payload after a field of the form was changed. The server merges an edit into the payload, so a field cannot be
 * removed: an emptied text becomes an empty text, and any other emptied field gets its proposed value again.
 */
export function withEditedFields(payload: JsonObject, input: JsonObject): JsonObject {
  const emptied = Object.keys(payload).filter((name) => !Object.hasOwn(input, name))
  const kept = emptied.map((name) => [name, typeof payload[name] === 'string' ? '' : (payload[name] ?? null)] as const)
  return { ...input, ...Object.fromEntries(kept) }
}
