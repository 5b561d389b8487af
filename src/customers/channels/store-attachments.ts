import { appendAuditEntry } from '../../audit/append.ts'
import { Problem } from '../../platform/base/problem.ts'
import { findOrCreateClient } from '../clients/clients.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import { cleanFileName } from '../../work/files/file-name.ts'
import { removeUnusedFile } from '../../work/files/delete-file.ts'
import { type FileOwner, storeFile } from '../../work/files/store-file.ts'
import type { ChannelRow, FileRow } from '../../platform/store/tables.ts'
import type { IncomingFile, IncomingMessage } from './adapters/adapter.ts'
import { findEarlierInbound, type Receipt, receiveMessage } from './receive-message.ts'

/** More than anybody sends on purpose. */
const MAX_FILES = 20

/**
 * Receives a message that an adapter has parsed, from a hook or from a mailbox. Its files are stored first. They are
 * discarded if the message is not received or another delivery was first; if the process dies, the provider delivers the
 * message again and the daily cleanup removes the unused files.
 */
export async function receiveWithFiles(ctx: Ctx, channel: ChannelRow, message: IncomingMessage): Promise<Receipt> {
  const { files, notes = [], ...content } = message
  if (files.length === 0)
    return receiveMessage(ctx, SYSTEM_ACTOR, channel, { ...content, ...addNotes(content.body, notes), fileIds: [] })
  const earlier = await findEarlierInbound(ctx, channel, message)
  if (earlier) return { delivered: earlier, replayed: true }
  const stored: FileRow[] = []
  try {
    const fileNotes = await storeIncomingFiles(ctx, channel, message, stored)
    const text = addNotes(content.body, [...notes, ...fileNotes])
    const fileIds = stored.map(({ id }) => id)
    const receipt = await receiveMessage(ctx, SYSTEM_ACTOR, channel, { ...content, ...text, fileIds })
    if (receipt.replayed) await discardUnused(ctx, stored)
    return receipt
  } catch (error) {
    await discardUnused(ctx, stored)
    throw error
  }
}

const addNotes = (writtenText: string, notes: readonly string[]) => ({
  writtenText,
  body: [writtenText, ...notes].filter((text) => text !== '').join('\n\n'),
})

/** Not those of a message that was received after all, such as when the response to the commit was lost. */
async function discardUnused(ctx: Ctx, files: readonly FileRow[]): Promise<void> {
  // If the store is away, the daily cleanup removes them.
  for (const file of files) await removeUnusedFile(ctx, file).catch(() => {})
}

/**
 * Adds the files to `stored`. A file that cannot be stored does not stop the message: a line in the text, which is
 * returned, says why the file is missing.
 */
async function storeIncomingFiles(
  ctx: Ctx,
  channel: ChannelRow,
  { files, ...sender }: IncomingMessage,
  stored: FileRow[],
): Promise<string[]> {
  const owner = {
    projectId: channel.project_id,
    clientId: await ensureClient(ctx, channel, sender),
    actor: SYSTEM_ACTOR,
  }
  const notes = files.length > MAX_FILES ? [`[${files.length - MAX_FILES} more files were not stored]`] : []
  for (const file of files.slice(0, MAX_FILES)) {
    const outcome = await storeOrRefuse(ctx, owner, file)
    if (outcome instanceof Problem)
      notes.push(`[the file "${cleanFileName(file.name)}" was not stored: ${outcome.message}]`)
    else stored.push(outcome)
  }
  return notes
}

function storeOrRefuse(ctx: Ctx, owner: FileOwner, file: IncomingFile) {
  return storeFile(ctx, owner, file, file.open()).catch((error: unknown) => {
    // Everything else may succeed when the provider delivers the message again.
    if (error instanceof Problem && error.status < 500) return error
    throw error
  })
}

/** A file belongs to its client from the first byte, so the client is created before the message is received. */
function ensureClient(
  ctx: Ctx,
  { project_id }: ChannelRow,
  sender: Pick<IncomingMessage, 'from' | 'senderProof'>,
): Promise<string> {
  return inTx(ctx, async (tx) => {
    const client = await findOrCreateClient(tx, project_id, sender)
    if (client.isNew)
      await appendAuditEntry(tx, project_id, SYSTEM_ACTOR, 'client.created', client.id, { by: 'inbound' })
    return client.id
  })
}
