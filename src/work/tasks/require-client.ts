import { isClientOfProject, lockClient } from '../../identity/organisations/project-client-rows.ts'
import { badRequest } from '../../platform/base/problem.ts'
import type { Ctx, Tx } from '../../platform/ctx/ctx.ts'

/** 400 for a client that does not exist in the project. */
export async function requireClientExists(ctx: Pick<Ctx, 'db'>, projectId: string, clientId: string): Promise<void> {
  if (!(await isClientOfProject(ctx.db, projectId, clientId)))
    throw badRequest(`unknown client '${clientId.slice(0, 100)}'`)
}

/** The same, and the client is not erased before the transaction ends. */
export async function lockExistingClient(tx: Tx, projectId: string, clientId: string): Promise<void> {
  await lockClient(tx.db, clientId)
  await requireClientExists(tx, projectId, clientId)
}
