import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'

/**
 * A file in the payload of an action. An agent writes `{"$file": "file_…"}`; the service adds the name and the hash
 * before a person sees the payload, so that the approval is for exactly this content.
 */
export interface FileReference extends JsonObject {
  $file: string
}

export const isFileReference = (value: Json): value is FileReference =>
  isJsonObject(value) && Object.hasOwn(value, '$file') && typeof value.$file === 'string'

/** The payload with each reference to a file replaced. */
export function replaceFileReferences(payload: Json, replace: (reference: FileReference) => Json): Json {
  if (Array.isArray(payload)) return payload.map((item) => replaceFileReferences(item, replace))
  if (!isJsonObject(payload)) return payload
  if (isFileReference(payload)) return replace(payload)
  return Object.fromEntries(
    Object.entries(payload).map(([key, value]) => [key, replaceFileReferences(value, replace)]),
  )
}

export function listFileReferences(payload: Json): FileReference[] {
  const found: FileReference[] = []
  replaceFileReferences(payload, (reference) => {
    found.push(reference)
    return reference
  })
  return found
}
