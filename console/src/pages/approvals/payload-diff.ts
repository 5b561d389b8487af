import type { Json, JsonObject } from '../../api/types.ts'

export interface FieldChange {
  key: string
  before: Json | undefined
  after: Json
}

/** The keys of an edit that differ. An edit is laid over the payload key by key, so keys are what is compared. */
export function changedFields(payload: JsonObject, edited: JsonObject): FieldChange[] {
  return Object.entries(edited)
    .filter(([key, after]) => JSON.stringify(payload[key]) !== JSON.stringify(after))
    .map(([key, after]) => ({ key, before: payload[key], after }))
}

/** What has to be sent: only what differs. */
export function changedValues(payload: JsonObject, edited: JsonObject): JsonObject {
  return Object.fromEntries(changedFields(payload, edited).map(({ key, after }) => [key, after]))
}
