import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import { objectListField, textField } from '../../platform/base/json-fields.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { FILE_BLOCK_TYPE, VISIBLE_TYPES } from '../../platform/contract/providers/conversation.ts'
import { type ModelApi, PROVIDER_FORMATS } from '../../platform/contract/providers/provider-formats.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { readFile } from '../../work/files/storage.ts'
import { findFile } from '../../work/files/rows.ts'
import type { FileRow } from '../../platform/store/tables.ts'
import { canAffordFiles } from './cost-ceiling.ts'
import { maxImageTokens, maxPdfTokens } from './media-tokens.ts'
import type { ModelPrice } from './model-prices.ts'
import type { ModelRequest } from './model-request.ts'
import type { ModelRun } from './model-run.ts'
import { countPdfPages } from './pdf-pages.ts'

/** Anthropic takes images of up to 5 MiB in base64, and requests of up to 32 MB. */
const MAX_IMAGE_BYTES = 3_900_000
const MAX_SHOWN_BYTES = 20 * 1024 * 1024

/** A file of a request: with its content, or the reason why the model does not see it. */
type RequestFile = { name: string } & ({ block: JsonObject; tokens: number } | { why: string })

/** The files of a request by id, and the most tokens of those that the model sees. */
export interface ShownFiles {
  files: ReadonlyMap<string, RequestFile>
  tokens: number
}

/** Reads the files that stand in the messages of a request. Throws a 400 for one that is not a file of the run. */
export async function readRequestFiles(
  ctx: Ctx,
  run: ModelRun,
  { api, body }: ModelRequest,
): Promise<Map<string, RequestFile>> {
  const found = new Map<string, RequestFile>()
  let bytes = 0
  for (const id of listFileIds(api, body)) {
    const file = run.files.find((one) => one.id === id)
    if (!file) throw badRequest(`no such file of the run: ${id.slice(0, 64)}`)
    if (found.has(id)) continue
    const why = findObstacle(run, file, bytes)
    if (why === null) bytes += file.size
    found.set(id, why === null ? await readMedia(ctx, api, file) : { name: file.name, why })
  }
  return found
}

function findObstacle({ refusesFiles }: ModelRun, file: FileRow, bytesBefore: number): string | null {
  if (refusesFiles) return MODEL_REFUSED
  if (!VISIBLE_TYPES.includes(file.content_type)) return `files of type ${file.content_type} cannot be shown`
  const isTooLarge = file.content_type !== 'application/pdf' && file.size > MAX_IMAGE_BYTES
  return isTooLarge || bytesBefore + file.size > MAX_SHOWN_BYTES ? 'it is too large' : null
}

const MODEL_REFUSED = 'the model does not take it'

async function readMedia(ctx: Ctx, api: ModelApi, file: FileRow): Promise<RequestFile> {
  const { name, content_type: contentType } = file
  if (!(await findFile(ctx.db, [file.project_id], file.id))) return { name, why: 'it was deleted' }
  const pieces: Buffer[] = []
  for await (const piece of readFile(ctx, file)) pieces.push(piece)
  const content = Buffer.concat(pieces)
  const isPdf = contentType === 'application/pdf'
  const { provider, toMediaBlock } = PROVIDER_FORMATS[api]
  const block = toMediaBlock({ name, contentType, base64: content.toString('base64') })
  return { name, block, tokens: isPdf ? maxPdfTokens(provider, countPdfPages(content)) : maxImageTokens(provider) }
}

/** Leaves out what the budget of the task does not pay for. */
export function chooseShownFiles(
  run: ModelRun,
  price: ModelPrice,
  request: ModelRequest,
  found: ReadonlyMap<string, RequestFile>,
): ShownFiles {
  const files = new Map<string, RequestFile>()
  let tokens = 0
  for (const [id, file] of found) {
    const isPaid = 'block' in file && canAffordFiles(run, price, request, tokens + file.tokens)
    if (isPaid) tokens += file.tokens
    files.set(id, isPaid || 'why' in file ? file : { name: file.name, why: 'it could exceed the cost ceiling' })
  }
  return { files, tokens }
}

/** The request as it is sent. `dropFiles` takes the files out of it; false if there are none. */
export function createFileText(run: ModelRun, request: ModelRequest, { files }: ShownFiles, textWithoutFiles: string) {
  const sent = {
    text: files.size === 0 ? textWithoutFiles : JSON.stringify(withFiles(request, files)),
    dropFiles() {
      if (run.refusesFiles || ![...files.values()].some((file) => 'block' in file)) return false
      run.refusesFiles = true
      const refused = [...files].map(([id, { name }]) => [id, { name, why: MODEL_REFUSED }] as const)
      sent.text = JSON.stringify(withFiles(request, new Map(refused)))
      return true
    },
  }
  return sent
}

function withFiles({ api, body }: ModelRequest, files: ShownFiles['files']): JsonObject {
  const { messagesField } = PROVIDER_FORMATS[api]
  const messages = objectListField(body, messagesField).map((message) =>
    message.content === undefined
      ? message
      : { ...message, content: replaceFileBlocks(message.content, (id) => toContentBlock(api, files.get(id))) },
  )
  return { ...body, [messagesField]: messages }
}

function toContentBlock(api: ModelApi, file: RequestFile | undefined): JsonObject {
  if (file && 'block' in file) return file.block
  const type = api === 'responses' ? 'input_text' : 'text'
  return { type, text: `[The file ${JSON.stringify(file?.name ?? '')} is not shown: ${file?.why ?? ''}.]` }
}

function listFileIds(api: ModelApi, body: JsonObject): string[] {
  const ids: string[] = []
  for (const { content } of objectListField(body, PROVIDER_FORMATS[api].messagesField)) {
    replaceFileBlocks(content, (id) => {
      ids.push(id)
      return {}
    })
  }
  return ids
}

/** The results of tools have content of their own. */
function replaceFileBlocks(content: Json | undefined, replace: (id: string) => JsonObject): Json {
  if (!Array.isArray(content)) return content ?? null
  return content.map((block) => {
    if (!isJsonObject(block)) return block
    if (block.type === FILE_BLOCK_TYPE) return replace(textField(block, 'file_id'))
    return Array.isArray(block.content) ? { ...block, content: replaceFileBlocks(block.content, replace) } : block
  })
}
