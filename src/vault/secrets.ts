import { isInFirstOrganisation } from '../accounts/organisation-rows.ts'
import { lockProject } from '../accounts/project-rows.ts'
import { appendAuditEntry } from '../audit/append.ts'
import { conflict, notFound } from '../base/problem.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { SecretUnavailable } from '../ctx/vault.ts'
import { isoNow } from '../ctx/world.ts'
import {
  listEncryptedSecrets,
  type Connection,
  findConnection,
  findEncryptedSecret,
  toSecretPlace,
  upsertEncryptedSecret,
  listSecretKeyIds,
} from '../connections/rows.ts'
import { isOtherConnectionsKey, canReadEnv, secretRefOf } from './secret-ref.ts'

/** Seals the value under the connection's vault key. Nothing reads it back but the call that needs it. */
export async function writeSecret(ctx: Ctx, scope: ProjectScope, connection: Connection, value: string): Promise<void> {
  const ref = secretRefOf(connection)
  if (ref.in === 'env') {
    throw conflict(`the connection reads its secret from env:${ref.name}: point its secret_ref to the vault first`)
  }
  if (isOtherConnectionsKey(ref.key, connection.id)) {
    throw conflict("the connection names another connection's secret: change its secret_ref first")
  }
  const { id: connection_id, project_id, kind } = connection
  const entry = { project_id, key: ref.key, connection_id, kind }
  const envelope = ctx.vault.seal(value, toSecretPlace(entry))
  await inTx(ctx, async (tx) => {
    await lockProject(tx.db, connection.project_id)
    const now = await findConnection(tx.db, connection.id)
    if (!now) throw notFound('connection')
    // Nothing would refer to the secret, and nothing would ever drop it.
    if (now.secret_ref !== connection.secret_ref)
      throw conflict('connection was changed at the same time: read it again')
    await upsertEncryptedSecret(tx.db, { ...entry, envelope, updated_at: isoNow(tx) })
    await appendAuditEntry(tx, project_id, scope.actor, 'secret.written', connection_id, {
      connection: connection_id,
      kind,
    })
  })
}

/**
 * The names of the environment that connections of a project may read, where they are listed or have to be: only the
 * operator's own organisation reads without a list, and not everybody who signed up. Null: all that are not the service's.
 */
export async function allowedEnvNames({ db, config }: Pick<Ctx, 'db' | 'config'>, projectId: string) {
  return config.envSecrets ?? ((await isInFirstOrganisation(db, projectId)) ? null : [])
}

/** The secret itself; null when the connection has none and names none. */
export async function openSecret(ctx: Ctx, connection: Connection): Promise<string | null> {
  const ref = secretRefOf(connection)
  if (ref.in === 'env') {
    const value = await readEnvSecret(ctx, connection, ref.name)
    if (!value) throw new SecretUnavailable(`the environment variable '${ref.name}' is not set or not allowed`)
    return value
  }
  if (isOtherConnectionsKey(ref.key, connection.id))
    throw new SecretUnavailable("secret_ref names another connection's secret")
  const row = await findEncryptedSecret(ctx.db, connection.project_id, ref.key)
  if (row) return ctx.vault.open(row.envelope, toSecretPlace(row))
  if (connection.secret_ref === null) return null
  throw new SecretUnavailable(`no secret was written yet: POST /v1/connections/${connection.id}/secret`)
}

/** Which of the connections have a secret that can be used now, by id. Nothing is opened for it. */
export async function listConnectionsWithSecret(ctx: Ctx, connections: readonly Connection[]): Promise<Set<string>> {
  const refs = connections.map((connection) => ({ connection, ref: secretRefOf(connection) }))
  const places = refs.flatMap(({ connection, ref }) =>
    ref.in === 'vault' ? [{ projectId: connection.project_id, key: ref.key }] : [],
  )
  const kids = await listSecretKeyIds(ctx.db, places)
  const usable = await Promise.all(
    refs.map(async ({ connection, ref }) =>
      ref.in === 'env'
        ? Boolean(await readEnvSecret(ctx, connection, ref.name))
        : kids.get(`${connection.project_id} ${ref.key}`) === ctx.vault.kid &&
          !isOtherConnectionsKey(ref.key, connection.id),
    ),
  )
  return new Set(connections.filter((_, n) => usable[n]).map(({ id }) => id))
}

async function readEnvSecret(ctx: Ctx, { project_id }: Connection, name: string): Promise<string | undefined> {
  return canReadEnv(name, await allowedEnvNames(ctx, project_id)) ? ctx.world.env(name) : undefined
}

/** Told at the start: whoever changed the key, or lost it, learns of it before the first action does. */
export async function warnAboutUnreadableSecrets({ db, vault, world }: Ctx): Promise<void> {
  const lost = (await listEncryptedSecrets(db)).filter(({ envelope }) => envelope.kid !== vault.kid).length
  if (lost === 0) return
  world.log.warn(
    { secrets: lost },
    'secrets were sealed with another key: write them again, or rotate from the old key',
  )
}
