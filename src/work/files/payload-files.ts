import { hash } from 'node:crypto'
import type { Json, JsonObject } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import {
  type FileReference,
  listFileReferences,
  replaceFileReferences,
} from '../../platform/contract/file-reference.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Db } from '../../platform/store/store.ts'
import type { FileRow } from '../../platform/store/tables.ts'
import { readFile } from './storage.ts'
import { findFile } from './rows.ts'
import { requireUsableFiles } from './usable-files.ts'

/** The content of a file in the payload of an action. */
export interface PayloadFile {
  name: string
  contentType: string
  content: Buffer
}

/** The files of one payload by id. */
export type PayloadFiles = ReadonlyMap<string, PayloadFile>

export const NO_FILES: PayloadFiles = new Map()

/** The files of one action are in memory while it is sent; most mail servers refuse more. */
const MAX_PAYLOAD_FILES = 20
const MAX_PAYLOAD_FILE_BYTES = 25 * 1024 * 1024

/** Whose files a payload may contain. */
export interface FileUser {
  projectId: string
  clientId: string | null
  /** Refuses a file that the project and the client would allow. */
  mayUse?: (file: FileRow) => boolean
}

/**
 * The payload with name and hash in each reference to a file, as a person sees and approves it. Throws a 400 for a file
 * that does not exist or may not be used.
 */
export function resolvePayloadFiles(db: Db, user: FileUser, payload: JsonObject): Promise<JsonObject>
export function resolvePayloadFiles(db: Db, user: FileUser, payload: Json): Promise<Json>
export async function resolvePayloadFiles(db: Db, user: FileUser, payload: Json): Promise<Json> {
  const references = listFileReferences(payload)
  if (references.length === 0) return payload
  const ids = [...new Set(references.map(({ $file }) => $file))]
  if (ids.length > MAX_PAYLOAD_FILES) throw badRequest(`a payload may have at most ${MAX_PAYLOAD_FILES} files`)
  const files = new Map((await requireUsableFiles(db, user, ids)).map((file) => [file.id, file]))
  const size = [...files.values()].reduce((sum, file) => sum + file.size, 0)
  if (size > MAX_PAYLOAD_FILE_BYTES)
    throw badRequest(`the files of a payload may have at most ${MAX_PAYLOAD_FILE_BYTES / 1024 / 1024} MiB together`)
  return replaceFileReferences(payload, (reference) => resolveReference(user, files.get(reference.$file), reference))
}

function resolveReference(user: FileUser, file: FileRow | undefined, reference: FileReference): JsonObject {
  const { $file } = reference
  if (!file || user.mayUse?.(file) === false) throw badRequest(`no such file: ${$file.slice(0, 64)}`)
  const resolved: JsonObject = { $file, name: file.name, sha256: file.sha256 }
  for (const [field, value] of Object.entries(reference)) {
    if (!Object.hasOwn(resolved, field))
      throw badRequest(`a file in a payload is {"$file": id} and has no field '${field}'`)
    if (resolved[field] !== value) throw badRequest(`file '${$file}' has another ${field} than the payload says`)
  }
  return resolved
}

/**
 * Reads the files of a resolved payload. Throws a 400 if one was deleted or is not the one that was approved, so that
 * nothing else is sent.
 */
export async function loadPayloadFiles(ctx: Ctx, projectId: string, payload: Json): Promise<PayloadFiles> {
  const files = new Map<string, PayloadFile>()
  for (const reference of listFileReferences(payload)) {
    if (!files.has(reference.$file)) files.set(reference.$file, await loadFile(ctx, projectId, reference))
  }
  return files
}

async function loadFile(ctx: Ctx, projectId: string, { $file, name, sha256 }: FileReference): Promise<PayloadFile> {
  const file = await findFile(ctx.db, [projectId], $file)
  if (!file) throw badRequest(`file '${$file}' was deleted after it was approved`)
  const pieces: Buffer[] = []
  for await (const piece of readFile(ctx, file)) pieces.push(piece)
  const content = Buffer.concat(pieces)
  if (file.name !== name || file.sha256 !== sha256 || hash('sha256', content) !== sha256)
    throw badRequest(`file '${$file}' is not the one that was approved`)
  return { name: file.name, contentType: file.content_type, content }
}

/** The payload with the content of its files as base64 text, for bodies that have no files of their own. */
export function inlinePayloadFiles(payload: JsonObject, files: PayloadFiles): JsonObject
export function inlinePayloadFiles(payload: Json, files: PayloadFiles): Json
export function inlinePayloadFiles(payload: Json, files: PayloadFiles): Json {
  return replaceFileReferences(payload, ({ $file }) => files.get($file)?.content.toString('base64') ?? '')
}
