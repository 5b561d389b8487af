import { notFound } from '../base/problem.ts'
import type { Scope } from '../ctx/scope.ts'
import type { FindInput } from '../http/route.ts'
import { type Connection, findConnection } from './rows.ts'

/** The connection that a route names, or the 404 that also stands for somebody else's. */
export async function requireConnectionInScope({ ctx, scope, params }: FindInput<Scope>): Promise<Connection> {
  const connection = await findConnection(ctx.db, params.id ?? '')
  if (!connection || !scope.projectIds.includes(connection.project_id)) throw notFound('connection')
  return connection
}
