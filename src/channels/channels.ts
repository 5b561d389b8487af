import { z } from 'zod'
import { lockProject } from '../accounts/project-rows.ts'
import { appendAuditEntry } from '../audit/append.ts'
import { badRequest, notFound } from '../base/problem.ts'
import { findConnection } from '../connections/rows.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import type { ChannelRow } from '../store/tables.ts'
import { requireWedge } from '../wedges/enabled-wedges.ts'
import { requireTaskType } from '../wedges/task-type.ts'
import { deleteChannel, insertChannel } from './rows.ts'

export const ChannelInput = z.object({
  connection_id: z.string().min(1),
  address: z.string().trim().min(1).max(320),
  wedge: z.string().min(1),
  task_type: z.string().min(1),
})

const NO_ADAPTER = {
  adapter: null,
  config: '{}',
  settle_s: 0,
  progress: null,
  poller: null,
  poller_until: null,
  last_received_at: null,
  last_error: null,
  last_error_at: null,
}

/** Binds an inbound address to the task type that each of its messages starts. */
export async function createChannel(
  ctx: Ctx,
  scope: ProjectScope,
  input: z.infer<typeof ChannelInput>,
): Promise<ChannelRow> {
  requireTaskType(await requireWedge(ctx, scope, input.wedge), input.task_type)
  const channel: ChannelRow = {
    ...input,
    ...NO_ADAPTER,
    id: ctx.world.newId('chan'),
    project_id: scope.projectId,
    created_at: isoNow(ctx),
  }
  await inTx(ctx, async (tx) => {
    // The lock keeps the connection from being deleted before the channel is inserted.
    await lockProject(tx.db, scope.projectId)
    const connection = await findConnection(tx.db, input.connection_id)
    if (connection?.project_id !== scope.projectId) throw badRequest('unknown connection')
    await insertChannel(tx.db, channel)
    const { connection_id, wedge, task_type } = channel
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'channel.created', channel.id, {
      connection_id,
      wedge,
      task_type,
    })
  })
  return channel
}

/** Removes a channel. Its threads and tasks are kept. */
export async function removeChannel(ctx: Ctx, scope: ProjectScope, channel: ChannelRow): Promise<void> {
  await inTx(ctx, async (tx) => {
    if (!(await deleteChannel(tx.db, channel.id))) throw notFound('channel')
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'channel.deleted', channel.id)
  })
}
