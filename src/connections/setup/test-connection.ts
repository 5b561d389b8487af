import { appendAuditEntry } from '../../audit/append.ts'
import { badRequest, Problem } from '../../platform/base/problem.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { SecretUnavailable } from '../../platform/ctx/vault.ts'
import { EgressError } from '../../platform/egress/http-client.ts'
import type { ConnectionTestResult } from '../calls/executor.ts'
import { findExecutor } from '../executors/executor-table.ts'
import { recordConnectionHealth } from '../connection/health.ts'
import type { Connection } from '../connection/rows.ts'

/** Makes one real call without side effects and records its result as the connection's health. */
export async function testConnection(
  ctx: Ctx,
  scope: ProjectScope,
  connection: Connection,
): Promise<ConnectionTestResult> {
  const result = await runTest(ctx, connection)
  await recordConnectionHealth(ctx, connection, result.error)
  await inTx(ctx, (tx) =>
    appendAuditEntry(tx, connection.project_id, scope.actor, 'connection.tested', connection.id, { ok: result.ok }),
  )
  return result
}

async function runTest(ctx: Ctx, connection: Connection): Promise<ConnectionTestResult> {
  try {
    const executor = findExecutor(connection.kind)
    if (!executor) throw badRequest(`no executor for kind '${connection.kind}'`)
    return await executor.test(ctx, connection)
  } catch (error) {
    if (error instanceof Problem || error instanceof SecretUnavailable || error instanceof EgressError) {
      return { ok: false, checked: 'config and secret', status: null, error: error.message }
    }
    throw error
  }
}
