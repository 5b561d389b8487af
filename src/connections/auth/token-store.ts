import { lockProject } from '../../identity/organisations/project-rows.ts'
import { notFound } from '../../platform/base/problem.ts'
import type { Ctx, Tx } from '../../platform/ctx/ctx.ts'
import { SecretUnavailable } from '../../platform/ctx/vault.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import type { VaultRow } from '../../platform/store/tables.ts'
import {
  type EncryptedSecret,
  findEncryptedSecret,
  listEncryptionKeyIds,
  toSecretLocation,
  upsertEncryptedSecret,
} from '../../identity/vault/rows.ts'
import { type Connection, findConnection, updateConnectionHealth } from '../connection/rows.ts'
import { isOtherOauthApp, needsAuthorisation } from './auth-config.ts'
import { deleteOauthRows, deleteTokenRow } from './oauth-rows.ts'
import { findIssuerProblem, pinIssuer } from './pinned-issuer.ts'

/** Where tokens are requested, and as which client. */
export interface TokenEndpoint {
  token_url: string
  client_id: string
  client_auth: 'basic' | 'post'
  /** If known, the `iss` parameter of the callback must be equal. */
  issuer?: string | undefined
  /** The secret of a client that was registered by the service itself; else the connection's secret is used. */
  client_secret?: string | undefined
  /** The resource that the tokens are for (RFC 8707). */
  resource?: string | undefined
}

export interface OauthTokens {
  access_token: string
  refresh_token: string | null
  /** From this time on the access token is not used any more; null: unknown. */
  expires_at: string | null
  /** Where the tokens are refreshed, if `config.auth` does not say it. */
  endpoint?: TokenEndpoint | undefined
}

/** The tokens together with the stored text, by which a later write knows that they are still the same. */
export interface StoredTokens {
  tokens: OauthTokens
  envelope: string
}

/** Seals the tokens in the vault in place of older ones, and clears the connection's error. */
export async function saveTokensInTx(tx: Tx, connection: Connection, tokens: OauthTokens): Promise<void> {
  // A connection that is deleted at the same time must not leave its tokens behind.
  await lockProject(tx.db, connection.project_id)
  const current = await findConnection(tx.db, connection.id)
  if (!current) throw notFound('connection')
  // Tokens of one app must not be sent to the token endpoint of another.
  if (isOtherOauthApp(connection.config, current.config))
    throw new SecretUnavailable(
      `connection '${connection.name}' was changed at the same time: connect the account again`,
    )
  const problem = findIssuerProblem(current, tokens.endpoint?.issuer)
  if (problem !== null) throw new SecretUnavailable(problem)
  await upsertEncryptedSecret(tx.db, sealTokens(tx, connection, tokens))
  await pinIssuer(tx, current, tokens.endpoint?.issuer)
  await updateConnectionHealth(tx.db, connection.id, { last_error: null, last_error_at: null })
  tx.publishAfterCommit({ topic: 'tokens-changed', id: connection.id })
}

export async function readTokens(ctx: Ctx, connection: Connection): Promise<StoredTokens | null> {
  const row = await findEncryptedSecret(ctx.db, connection.project_id, tokenKey(connection))
  if (!row) return null
  const tokens: OauthTokens = JSON.parse(ctx.vault.open(row.envelope, toSecretLocation(row)))
  return { tokens, envelope: JSON.stringify(row.envelope) }
}

/** Deletes the tokens of the connection and an authorisation that is in progress. */
export async function deleteTokens(tx: Tx, connection: Connection): Promise<void> {
  await deleteTokenRow(tx.db, connection.project_id, tokenKey(connection))
  await deleteOauthRows(tx.db, connection.id)
}

/** Of the connections that need an authorisation, the ids of those whose tokens can be opened now. Decrypts nothing. */
export async function listAuthorisedConnections(ctx: Ctx, connections: readonly Connection[]): Promise<Set<string>> {
  const oauth = connections.filter(needsAuthorisation)
  const keys = oauth.map((connection) => ({ projectId: connection.project_id, key: tokenKey(connection) }))
  const keyIds = await listEncryptionKeyIds(ctx.db, keys)
  const isAuthorised = (connection: Connection) =>
    keyIds.get(`${connection.project_id} ${tokenKey(connection)}`) === ctx.vault.kid
  return new Set(oauth.filter(isAuthorised).map(({ id }) => id))
}

export function sealTokens(ctx: Ctx, connection: Connection, tokens: OauthTokens): EncryptedSecret {
  const { id: connection_id, project_id } = connection
  const location = { project_id, key: tokenKey(connection), connection_id, kind: 'oauth_tokens' }
  const envelope = ctx.vault.seal(JSON.stringify(tokens), toSecretLocation(location))
  return { ...location, envelope, updated_at: isoNow(ctx) }
}

export const toVaultRow = (secret: EncryptedSecret): VaultRow => ({
  ...secret,
  envelope: JSON.stringify(secret.envelope),
})

/** No `secret_ref` can name it: a vault key that starts like a connection id must be exactly that id. */
export const tokenKey = ({ id }: Pick<Connection, 'id'>): string => `${id}:tokens`
