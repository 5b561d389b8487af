import { lockProject } from '../../identity/organisations/project-rows.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { badRequest, notFound } from '../../platform/base/problem.ts'
import { findConnectionByName } from '../../connections/connection/rows.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import type { NotifierRow } from '../../platform/store/tables.ts'
import { deleteUnusedSecret, toSecretLocation, upsertEncryptedSecret } from '../../identity/vault/rows.ts'
import type { Notifier } from './notifier.ts'
import { deleteNotifier, findNotifier, upsertNotifier } from './rows.ts'

/** Chooses the connection through which the project notifies its members. A notifier that exists keeps its secret. */
export async function setNotifier(
  ctx: Ctx,
  { projectId, actor }: ProjectScope,
  notifier: Notifier,
  connectionName: string,
): Promise<NotifierRow> {
  const { kind } = notifier
  return inTx(ctx, async (tx) => {
    // The lock keeps the connection from being deleted before the notifier is stored.
    await lockProject(tx.db, projectId)
    const owner = { project_id: projectId, owner_kind: 'founder', owner_id: projectId, name: connectionName } as const
    const connection = await findConnectionByName(tx.db, owner)
    if (!connection) throw badRequest("field 'connection' must name a connection of this project")
    notifier.checkConnection(connection)
    const row = { id: tx.world.newId('ntf'), project_id: projectId, kind, created_at: isoNow(tx) }
    const stored = await upsertNotifier(tx.db, { ...row, connection_id: connection.id })
    await appendAuditEntry(tx, projectId, actor, 'notifier.updated', stored.id, { kind, connection_id: connection.id })
    return stored
  })
}

/** Stores the secret with which the service signs its calls. */
export async function writeNotifierSecret(
  ctx: Ctx,
  { projectId, actor }: ProjectScope,
  notifier: Notifier,
  value: string,
): Promise<NotifierRow> {
  const { kind } = notifier
  if (notifier.secret === null) throw badRequest(`a notifier of the kind '${kind}' has no secret`)
  return inTx(ctx, async (tx) => {
    await lockProject(tx.db, projectId)
    const [row] = await findNotifier(tx.db, { project_id: projectId, kind })
    if (!row) throw notFound('notifier')
    const secret = { project_id: projectId, key: row.id, connection_id: row.id, kind: 'notifier' }
    const envelope = tx.vault.seal(value, toSecretLocation(secret))
    await upsertEncryptedSecret(tx.db, { ...secret, envelope, updated_at: isoNow(tx) })
    await appendAuditEntry(tx, projectId, actor, 'secret.written', row.id, { kind: 'notifier' })
    return row
  })
}

/** Removes a notifier and its secret. Members keep their links; messages that wait are dropped. */
export async function removeNotifier(ctx: Ctx, { projectId, actor }: ProjectScope, row: NotifierRow): Promise<void> {
  await inTx(ctx, async (tx) => {
    await lockProject(tx.db, projectId)
    if (!(await deleteNotifier(tx.db, row.id))) throw notFound('notifier')
    await deleteUnusedSecret(tx.db, projectId, row.id)
    await appendAuditEntry(tx, projectId, actor, 'notifier.deleted', row.id, { kind: row.kind })
  })
}
