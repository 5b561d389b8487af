import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import type { ConnectionToolRow } from '../../platform/store/tables.ts'
import type { Connection } from '../connection/rows.ts'
import { withMcpSession } from './session.ts'
import { syncTools } from './sync-tools.ts'

/** Lists the tools of the server now and stores what changed. Throws an `EgressError` if the server cannot be used. */
export async function refreshTools(
  ctx: Ctx,
  connection: Connection,
  secret: string | null,
  actor?: Actor,
): Promise<{ tools: ConnectionToolRow[]; skipped: number }> {
  const { tools, skipped } = await withMcpSession(ctx, { connection, secret }, (session) => session.listTools())
  return { tools: await syncTools(ctx, connection, tools, actor), skipped }
}
