import type { Json, JsonObject } from '../../api/types.ts'

export interface FieldChange {
  key: string
  before: Json
  after: Json
}

/** The fields of an edit that differ from the payload. The server merges the edit into the payload field by field. */
export function changedFields(payload: JsonObject, edited: JsonObject): FieldChange[] {
  return Object.entries(edited)
    .filter(([key, after]) => JSON.stringify(payload[key]) !== JSON.stringify(after))
    .map(([key, after]) => ({ key, before: payload[key], after }))
}

/** The edit to send: only the fields that differ. */
export function changedValues(payload: JsonObject, edited: JsonObject): JsonObject {
  return Object.fromEntries(changedFields(payload, edited).map(({ key, after }) => [key, after]))
}
