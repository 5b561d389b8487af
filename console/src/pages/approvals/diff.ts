import type { Json, JsonObject } from '../../api/types.ts'

export interface Change {
  key: string
  before: Json | undefined
  after: Json
}

/** The keys of an edit that differ. An edit is laid over the payload key by key, so keys are what is compared. */
export function changes(payload: JsonObject, edited: JsonObject): Change[] {
  return Object.entries(edited)
    .filter(([key, after]) => JSON.stringify(payload[key]) !== JSON.stringify(after))
    .map(([key, after]) => ({ key, before: payload[key], after }))
}

/** What has to be sent: only what differs. */
export function overlay(payload: JsonObject, edited: JsonObject): JsonObject {
  return Object.fromEntries(changes(payload, edited).map(({ key, after }) => [key, after]))
}
