import { lockProject } from '../../identity/organisations/project-rows.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { conflict, notFound } from '../../platform/base/problem.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { toSecretLocation, upsertEncryptedSecret } from '../../identity/vault/rows.ts'
import { isOtherConnectionsKey, secretRefOf } from '../../identity/vault/secret-ref.ts'
import { type Connection, findConnection, updateConnectionHealth } from '../connection/rows.ts'

/** Encrypts the value and stores it under the connection's vault key. No route ever returns it. */
export async function writeSecret(ctx: Ctx, scope: ProjectScope, connection: Connection, value: string): Promise<void> {
  const ref = secretRefOf(connection)
  if (ref.in === 'env') {
    throw conflict(`the connection reads its secret from env:${ref.name}: point its secret_ref to the vault first`)
  }
  if (isOtherConnectionsKey(ref.key, connection.id)) {
    throw conflict("the connection names another connection's secret: change its secret_ref first")
  }
  const { id: connection_id, project_id, kind } = connection
  const secret = { project_id, key: ref.key, connection_id, kind }
  const envelope = ctx.vault.seal(value, toSecretLocation(secret))
  await inTx(ctx, async (tx) => {
    await lockProject(tx.db, connection.project_id)
    const current = await findConnection(tx.db, connection.id)
    if (!current) throw notFound('connection')
    // After such a change no connection refers to this vault key, so the secret would never be deleted.
    if (current.secret_ref !== connection.secret_ref)
      throw conflict('connection was changed at the same time: read it again')
    await upsertEncryptedSecret(tx.db, { ...secret, envelope, updated_at: isoNow(tx) })
    // An error was that of the old secret, or that there was none.
    await updateConnectionHealth(tx.db, connection_id, { last_error: null, last_error_at: null })
    const data = { connection: connection_id, kind }
    await appendAuditEntry(tx, project_id, scope.actor, 'secret.written', connection_id, data)
  })
}
