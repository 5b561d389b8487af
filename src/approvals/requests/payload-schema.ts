import { isJsonObject, type JsonObject } from '../../platform/base/json.ts'
import type { ChannelReply } from '../../customers/channels/adapters/adapter.ts'
import { checkReplyPayload, findReplyPath, isReplyOfPath } from '../../customers/channels/reply-path.ts'
import { checkToolArguments, findTool } from '../../connections/actions/connection-tools.ts'
import { type Connection, findConnection } from '../../connections/connection/rows.ts'
import type { ConnectionTool } from '../../connections/connection/tool.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { findTaskUnscoped } from '../../work/tasks/rows.ts'
import type { DecidableApproval } from './rows.ts'
import { approvedPayload, parseProposedPayload } from './view.ts'

/** The JSON Schema of the payload, or of the answer to a question; null if nothing declares it. */
export async function findPayloadSchema(ctx: Ctx, row: DecidableApproval): Promise<JsonObject | null> {
  if (row.path === 'question') {
    const preview = parseProposedPayload(row)
    return isJsonObject(preview) && isJsonObject(preview.schema) ? preview.schema : null
  }
  if (row.path !== 'action') return null
  const reply = await findReplyOfApproval(ctx, row)
  if (reply) return reply.schema
  return (await findToolOfApproval(ctx, row))?.tool.inputSchema ?? null
}

/** An edited payload must match the tool like the proposed one. Without the tool, the action fails when it is sent. */
export async function checkEditedPayload(ctx: Ctx, row: DecidableApproval): Promise<void> {
  const reply = await findReplyOfApproval(ctx, row)
  if (reply) return checkReplyPayload(reply, approvedPayload(row), 'edited')
  const found = await findToolOfApproval(ctx, row)
  if (found) checkToolArguments(found.connection, found.tool, approvedPayload(row), 'edited')
}

async function findToolOfApproval(
  ctx: Ctx,
  { connection_id, action }: DecidableApproval,
): Promise<{ connection: Connection; tool: ConnectionTool } | null> {
  const connection = connection_id === null ? null : await findConnection(ctx.db, connection_id)
  const tool = connection && (await findTool(ctx, connection, action))
  return tool ? { connection, tool } : null
}

/** How a reply to the client of a thread is sent; null if the approval is for another action. */
async function findReplyOfApproval(
  ctx: Ctx,
  { task_id, action, connection_id }: DecidableApproval,
): Promise<ChannelReply | null> {
  const task = await findTaskUnscoped(ctx.db, task_id)
  // What goes through a connection is no reply that is only shown.
  const isApprovalRequired = connection_id === null
  const replyPath = task?.thread_id ? await findReplyPath(ctx.db, task.thread_id, { isApprovalRequired }) : null
  return replyPath && isReplyOfPath(replyPath, action) ? replyPath.reply : null
}
