import { isInFirstOrganisation } from '../organisations/organisation-rows.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { SecretUnavailable } from '../../platform/ctx/vault.ts'
import type { ConnectionRow } from '../../platform/store/tables.ts'
import { findEncryptedSecret, listEncryptedSecrets, listEncryptionKeyIds, toSecretLocation } from './rows.ts'
import { canReadEnv, isOtherConnectionsKey, secretRefOf } from './secret-ref.ts'

/** The columns of a connection that say where its secret is. */
type SecretOwner = Pick<ConnectionRow, 'id' | 'project_id' | 'secret_ref'>

/**
 * The environment variables that connections of a project may read. Null means all except the service's own: without
 * SVC_ENV_SECRETS only the operator's organisation gets that, and organisations that signed up later get none.
 */
export async function allowedEnvNames({ db, config }: Pick<Ctx, 'db' | 'config'>, projectId: string) {
  return config.envSecrets ?? ((await isInFirstOrganisation(db, projectId)) ? null : [])
}

/** The decrypted secret; null when the connection has no secret and no secret_ref. */
export async function openSecret(ctx: Ctx, connection: SecretOwner): Promise<string | null> {
  const ref = secretRefOf(connection)
  if (ref.in === 'env') {
    const value = await readEnvSecret(ctx, connection, ref.name)
    if (!value) throw new SecretUnavailable(`the environment variable '${ref.name}' is not set or not allowed`)
    return value
  }
  if (isOtherConnectionsKey(ref.key, connection.id))
    throw new SecretUnavailable("secret_ref names another connection's secret")
  const row = await findEncryptedSecret(ctx.db, connection.project_id, ref.key)
  if (row) return ctx.vault.open(row.envelope, toSecretLocation(row))
  if (connection.secret_ref === null) return null
  throw new SecretUnavailable('the connection has no secret yet: write one')
}

/** The ids of the connections whose secret can be used now. Decrypts nothing. */
export async function listConnectionsWithSecret(ctx: Ctx, connections: readonly SecretOwner[]): Promise<Set<string>> {
  const refs = connections.map((connection) => ({ connection, ref: secretRefOf(connection) }))
  const inVault = refs.flatMap(({ connection, ref }) =>
    ref.in === 'vault' ? [{ projectId: connection.project_id, key: ref.key }] : [],
  )
  const keyIds = await listEncryptionKeyIds(ctx.db, inVault)
  const usable = await Promise.all(
    refs.map(async ({ connection, ref }) =>
      ref.in === 'env'
        ? Boolean(await readEnvSecret(ctx, connection, ref.name))
        : keyIds.get(`${connection.project_id} ${ref.key}`) === ctx.vault.kid &&
          !isOtherConnectionsKey(ref.key, connection.id),
    ),
  )
  return new Set(connections.filter((_, n) => usable[n]).map(({ id }) => id))
}

async function readEnvSecret(ctx: Ctx, { project_id }: SecretOwner, name: string): Promise<string | undefined> {
  return canReadEnv(name, await allowedEnvNames(ctx, project_id)) ? ctx.world.env(name) : undefined
}

/** Runs at startup, so that an operator who changed or lost the key learns of it before an action fails. */
export async function warnAboutUnreadableSecrets({ db, vault, world }: Ctx): Promise<void> {
  const unreadable = (await listEncryptedSecrets(db)).filter(({ envelope }) => envelope.kid !== vault.kid).length
  if (unreadable === 0) return
  world.log.warn(
    { secrets: unreadable },
    'secrets were encrypted with another key: write them again, or rotate from the old key',
  )
}
