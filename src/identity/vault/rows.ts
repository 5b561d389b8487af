import type { SecretEnvelope, SecretLocation } from '../../platform/ctx/vault.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { VaultRow } from '../../platform/store/tables.ts'

export type EncryptedSecret = Omit<VaultRow, 'envelope'> & { envelope: SecretEnvelope }

type SecretLocationColumns = Pick<VaultRow, 'project_id' | 'key' | 'connection_id' | 'kind'>

export function toSecretLocation({ project_id, key, connection_id, kind }: SecretLocationColumns): SecretLocation {
  return { projectId: project_id, key, connectionId: connection_id, kind }
}

export async function findEncryptedSecret(db: Db, projectId: string, key: string): Promise<EncryptedSecret | null> {
  const [row] = await encryptedSecretByKey(db, { projectId, key })
  return row ? toEncryptedSecret(row) : null
}

const encryptedSecretByKey = prepareQuery<{ projectId: string; key: string }, VaultRow>((db, arg) =>
  db.selectFrom('vault').selectAll().where('project_id', '=', arg('projectId')).where('key', '=', arg('key')),
)

/** The ids of the encryption keys by `<project id> <vault key>`. */
export async function listEncryptionKeyIds(
  db: Db,
  secrets: { projectId: string; key: string }[],
): Promise<Map<string, string>> {
  if (secrets.length === 0) return new Map()
  const rows = await db
    .selectFrom('vault')
    .select(['project_id', 'key', 'envelope'])
    .where('project_id', 'in', [...new Set(secrets.map(({ projectId }) => projectId))])
    .where('key', 'in', [...new Set(secrets.map(({ key }) => key))])
    .execute()
  return new Map(rows.map((row) => [`${row.project_id} ${row.key}`, parseEnvelope(row.envelope).kid]))
}

/** The secrets that were encrypted with another key than this one, so that the service cannot open them. */
export function listUnreadableSecrets(
  db: Db,
  projectIds: readonly string[],
  keyId: string,
): Promise<Pick<VaultRow, 'key' | 'updated_at'>[]> {
  const query = db.selectFrom('vault').select(['key', 'updated_at']).where('project_id', 'in', projectIds)
  return query.where('envelope', 'not like', `%"kid":"${keyId}"%`).execute()
}

/** By vault key, a text that is new each time the secret is written. */
export async function listSecretVersions(db: Db, keys: readonly string[]): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map()
  const rows = await db.selectFrom('vault').select(['key', 'envelope']).where('key', 'in', keys).execute()
  return new Map(rows.map(({ key, envelope }) => [key, parseEnvelope(envelope).iv]))
}

export async function upsertEncryptedSecret(db: Db, secret: EncryptedSecret): Promise<void> {
  const row = { ...secret, envelope: JSON.stringify(secret.envelope) }
  const { project_id: _project, key: _key, ...rest } = row
  await db
    .insertInto('vault')
    .values(row)
    .onConflict((conflict) => conflict.columns(['project_id', 'key']).doUpdateSet(rest))
    .execute()
}

export async function listEncryptedSecrets(db: Db): Promise<EncryptedSecret[]> {
  const rows = await db.selectFrom('vault').selectAll().orderBy('project_id').orderBy('key').execute()
  return rows.map(toEncryptedSecret)
}

/** Deletes the secret unless a connection still refers to it. */
export async function deleteUnusedSecret(db: Db, projectId: string, key: string): Promise<void> {
  await db
    .deleteFrom('vault')
    .where('project_id', '=', projectId)
    .where('key', '=', key)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('connections')
            .select('connections.id')
            .where('connections.project_id', '=', projectId)
            .where((connection) =>
              connection.or([
                connection('connections.secret_ref', '=', `vault:${key}`),
                connection.and([
                  connection('connections.id', '=', key),
                  connection('connections.secret_ref', 'is', null),
                ]),
              ]),
            ),
        ),
      ),
    )
    .execute()
}

const toEncryptedSecret = (row: VaultRow): EncryptedSecret => ({ ...row, envelope: parseEnvelope(row.envelope) })

function parseEnvelope(text: string): SecretEnvelope {
  const envelope: Partial<SecretEnvelope> = JSON.parse(text)
  const { kid = '', iv = '', tag = '', ct = '' } = envelope
  return { v: 1, kid, iv, tag, ct }
}
