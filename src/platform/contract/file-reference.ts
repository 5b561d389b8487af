import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'

/**
 * A file in the payload of an action. An agent writes `{"$file": "file_…"}`; the service adds the name and the hash
 * before a person sees the payload, so that the approval is for exactly this content.
 */
export interface FileReference extends JsonObject {
  $file: string
}

export const isFileReference = (value: unknown): value is FileReference =>
  isJsonObject(value) && Object.hasOwn(value, '$file') && typeof value.$file === 'string'

/** The payload with the references to files in its fields replaced. The whole payload is never a reference. */
export function replaceFileReferences(payload: JsonObject, replace: ReplaceFile): JsonObject
export function replaceFileReferences(payload: Json, replace: ReplaceFile): Json
export function replaceFileReferences(payload: Json, replace: ReplaceFile): Json {
  return isJsonObject(payload) ? replaceInFields(payload, replace) : replaceInValue(payload, replace)
}

type ReplaceFile = (reference: FileReference) => Json

const replaceInFields = (fields: JsonObject, replace: ReplaceFile): JsonObject =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, replaceInValue(value, replace)]))

function replaceInValue(value: Json, replace: ReplaceFile): Json {
  if (Array.isArray(value)) return value.map((item) => replaceInValue(item, replace))
  if (!isJsonObject(value)) return value
  return isFileReference(value) ? replace(value) : replaceInFields(value, replace)
}

export function listFileReferences(payload: Json): FileReference[] {
  const found: FileReference[] = []
  replaceFileReferences(payload, (reference) => {
    found.push(reference)
    return reference
  })
  return found
}
