import { notFound } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Scope } from '../ctx/scope.ts'
import { type Connection, findConnection } from './rows.ts'

/** The connection that a route names, or the 404 that also stands for somebody else's. */
export async function connectionInScope({ ctx, scope, params }: Finding): Promise<Connection> {
  const connection = await findConnection(ctx.db, params.id ?? '')
  if (!connection || !scope.projectIds.includes(connection.project_id)) throw notFound('connection')
  return connection
}

interface Finding {
  ctx: Ctx
  scope: Scope
  params: Record<string, string>
}
