import { z } from 'zod'
import { lockProject } from '../../identity/organisations/project-rows.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { issueMessage } from '../../platform/base/issue-message.ts'
import type { JsonObject } from '../../platform/base/json.ts'
import { badRequest, conflict, notFound } from '../../platform/base/problem.ts'
import { findConnection } from '../../connections/connection/rows.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import type { ChannelRow } from '../../platform/store/tables.ts'
import { deleteUnusedSecret, toSecretLocation, upsertEncryptedSecret } from '../../identity/vault/rows.ts'
import { requireWedge } from '../../wedges/library/enabled-wedges.ts'
import { requireTaskType } from '../../wedges/library/task-type.ts'
import { CHANNEL_ADAPTERS, findAdapter } from './adapters/adapter-table.ts'
import { requireMessageInput } from './message-input.ts'
import { deleteChannel, insertChannel, updateChannel } from './rows.ts'
import { hasThreads } from '../threads/thread-rows.ts'

const MAX_SETTLE_S = 3600

export const ChannelInput = z.object({
  connection_id: z.string().min(1),
  address: z.string().trim().min(1).max(320),
  wedge: z.string().min(1),
  task_type: z.string().min(1),
  adapter: z
    .string()
    .min(1)
    .nullish()
    .meta({ description: 'The service that carries the messages; null: `/inbound` only.' }),
  config: jsonObject.optional().meta({ description: 'In the form of the adapter.' }),
  settle_s: z
    .number()
    .int()
    .min(0)
    .max(MAX_SETTLE_S)
    .optional()
    .meta({ description: 'How long the task of a message waits for more messages, which then become part of it.' }),
})

export const ChannelChange = ChannelInput.partial()

/** Binds an inbound address to the task type that each of its messages starts. */
export async function createChannel(
  ctx: Ctx,
  scope: ProjectScope,
  input: z.infer<typeof ChannelInput>,
): Promise<ChannelRow> {
  await requireMessageTask(ctx, scope, { ...input, adapter: input.adapter ?? null })
  const channel: ChannelRow = {
    id: ctx.world.newId('chan'),
    project_id: scope.projectId,
    connection_id: input.connection_id,
    address: input.address,
    wedge: input.wedge,
    task_type: input.task_type,
    adapter: input.adapter ?? null,
    config: toStoredConfig(input.adapter ?? null, input.config ?? {}),
    settle_s: input.settle_s ?? 0,
    progress: null,
    poller: null,
    poller_until: null,
    last_received_at: null,
    last_error: null,
    last_error_at: null,
    created_at: isoNow(ctx),
  }
  await inTx(ctx, async (tx) => {
    await requireOwnConnection(tx, scope, channel.connection_id)
    await insertChannel(tx.db, channel)
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'channel.created', channel.id, auditedFields(channel))
  })
  return channel
}

/** Changes the fields that are given. Threads and queued tasks stay as they are. */
export async function changeChannel(
  ctx: Ctx,
  scope: ProjectScope,
  was: ChannelRow,
  { config, ...input }: z.infer<typeof ChannelChange>,
): Promise<ChannelRow> {
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
  const channel: ChannelRow = { ...was, ...given }
  await requireMessageTask(ctx, scope, channel)
  const stored: JsonObject = config ?? (channel.adapter === was.adapter ? JSON.parse(was.config) : {})
  const { connection_id, address, wedge, task_type, adapter, settle_s } = channel
  const newConfig = toStoredConfig(adapter, stored)
  // Another mailbox is read from its beginning. Messages that were received before are recognised.
  const progress = adapter === was.adapter && newConfig === was.config ? was.progress : null
  const changes = { connection_id, address, wedge, task_type, adapter, settle_s, progress, config: newConfig }
  return inTx(ctx, async (tx) => {
    await requireOwnConnection(tx, scope, connection_id)
    if (adapter !== was.adapter) await leaveAdapter(tx, was, adapter)
    const changed = await updateChannel(tx.db, was.id, changes)
    if (!changed) throw notFound('channel')
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'channel.updated', was.id, auditedFields(changed))
    return changed
  })
}

/** 400 for a task type that does not exist or cannot take the messages of the channel. */
async function requireMessageTask(
  ctx: Ctx,
  scope: ProjectScope,
  { wedge, task_type, adapter }: Pick<ChannelRow, 'wedge' | 'task_type' | 'adapter'>,
): Promise<void> {
  const type = requireTaskType(await requireWedge(ctx, scope, wedge), task_type)
  requireMessageInput(type, task_type, adapter)
}

/** What belongs to the old adapter is removed. Its conversations cannot continue: another service has other addresses. */
async function leaveAdapter(tx: Tx, { id, project_id }: ChannelRow, adapter: string | null): Promise<void> {
  if (adapter !== null && (await hasThreads(tx.db, id)))
    throw conflict('the channel has conversations of its adapter: create a new channel for another one')
  await deleteUnusedSecret(tx.db, project_id, id)
  await updateChannel(tx.db, id, { progress: null, last_error: null, last_error_at: null })
}

/** Stores the secret with which the provider signs its calls, or with which the adapter signs in. */
export async function writeChannelSecret(
  ctx: Ctx,
  scope: ProjectScope,
  channel: ChannelRow,
  value: string,
): Promise<ChannelRow> {
  if (!findAdapter(channel.adapter)?.secret) throw badRequest('the adapter of this channel has no secret')
  const { id: key, project_id } = channel
  const secret = { project_id, key, connection_id: key, kind: 'channel' }
  const envelope = ctx.vault.seal(value, toSecretLocation(secret))
  return inTx(ctx, async (tx) => {
    await lockProject(tx.db, project_id)
    // An error was that of the old secret, or that there was none.
    const changed = await updateChannel(tx.db, channel.id, { last_error: null, last_error_at: null })
    if (!changed) throw notFound('channel')
    await upsertEncryptedSecret(tx.db, { ...secret, envelope, updated_at: isoNow(tx) })
    await appendAuditEntry(tx, project_id, scope.actor, 'secret.written', channel.id, { kind: 'channel' })
    return changed
  })
}

/** Removes a channel and its secret. Its threads and tasks are kept. */
export async function removeChannel(ctx: Ctx, scope: ProjectScope, channel: ChannelRow): Promise<void> {
  await inTx(ctx, async (tx) => {
    await lockProject(tx.db, channel.project_id)
    if (!(await deleteChannel(tx.db, channel.id))) throw notFound('channel')
    await deleteUnusedSecret(tx.db, channel.project_id, channel.id)
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'channel.deleted', channel.id)
  })
}

/** The lock keeps the connection from being deleted before the channel is stored. */
async function requireOwnConnection(tx: Tx, { projectId }: ProjectScope, connectionId: string): Promise<void> {
  await lockProject(tx.db, projectId)
  const connection = await findConnection(tx.db, connectionId)
  if (connection?.project_id !== projectId) throw badRequest('unknown connection')
}

function toStoredConfig(name: string | null, config: JsonObject): string {
  if (name === null) {
    if (Object.keys(config).length > 0) throw badRequest("field 'config' needs a field 'adapter'")
    return '{}'
  }
  const adapter = findAdapter(name)
  if (!adapter) {
    const names = Object.keys(CHANNEL_ADAPTERS).join(', ')
    throw badRequest(`field 'adapter' must be one of ${names}`)
  }
  const parsed = adapter.config.safeParse(config)
  if (parsed.success) return JSON.stringify(parsed.data)
  const [issue] = parsed.error.issues
  if (!issue) throw badRequest("field 'config' is not valid")
  throw badRequest(`field '${['config', ...issue.path].map(String).join('.')}' ${issueMessage(issue, config)}`)
}

const auditedFields = ({ connection_id, wedge, task_type, adapter, settle_s }: ChannelRow) => ({
  connection_id,
  wedge,
  task_type,
  ...(adapter !== null && { adapter, settle_s }),
})
