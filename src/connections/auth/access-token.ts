import { type Ctx, inDurableTx, inTx } from '../../platform/ctx/ctx.ts'
import { SecretUnavailable } from '../../platform/ctx/vault.ts'
import { waitFor } from '../../platform/ctx/wait-for.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import { lockProject } from '../../identity/organisations/project-rows.ts'
import { CALL_TIMEOUT_MS } from '../../platform/egress/http-client.ts'
import { StoreUnavailable } from '../../platform/store/errors.ts'
import { type Connection, findConnection } from '../connection/rows.ts'
import { isOtherOauthApp, parseAuthConfig } from './auth-config.ts'
import { acquireTokenLock, deleteTokenRow, findTokenLock, releaseTokenLock, replaceTokens } from './oauth-rows.ts'
import { findIssuerProblem, pinIssuer } from './pinned-issuer.ts'
import { requestTokens, TokenRequestFailed } from './token-endpoint.ts'
import { type OauthTokens, readTokens, sealTokens, type StoredTokens, tokenKey, toVaultRow } from './token-store.ts'

/** Longer than a request for tokens can take: only a replica that died lets it expire. */
const LOCK_MS = CALL_TIMEOUT_MS + 10_000

/** Longer than a lock lasts, so that a caller which waits for a dead replica still gets the lock. */
const MAX_WAIT_MS = LOCK_MS + 5_000

/** A hint can get lost, so waiting callers look again after this time. */
const POLL_MS = 500

export interface AccessTokenOptions {
  /** The API has answered 401 to this token, so another one is needed even before it expires. */
  rejected?: string | undefined
}

/**
 * An access token of the connection that is valid now; requests or refreshes it if needed. Of all callers on all replicas
 * one makes the request and the others wait for its result. `secret` is the connection's secret, the client secret.
 */
export async function readAccessToken(
  ctx: Ctx,
  connection: Connection,
  secret: string | null,
  { rejected }: AccessTokenOptions = {},
): Promise<string> {
  try {
    const stored = await readTokens(ctx, connection)
    if (stored && isUsable(ctx, stored, rejected)) return stored.tokens.access_token
    requireRenewable(connection, stored)
    return await renewOnce(ctx, connection, secret, rejected)
  } catch (error) {
    // Nothing was sent to the API yet, so the action has certainly failed.
    if (error instanceof StoreUnavailable) throw new SecretUnavailable('the access token cannot be read: try again')
    throw error
  }
}

/** Whether a 401 can be answered with another token, without a person. */
export async function canRenewToken(ctx: Ctx, connection: Connection): Promise<boolean> {
  return canRenew(connection, await readTokens(ctx, connection))
}

function canRenew(connection: Connection, stored: StoredTokens | null): boolean {
  const auth = parseAuthConfig(connection)
  return (auth.type === 'oauth2' && auth.grant === 'client_credentials') || Boolean(stored?.tokens.refresh_token)
}

function requireRenewable(connection: Connection, stored: StoredTokens | null): void {
  if (canRenew(connection, stored)) return
  throw new SecretUnavailable(
    stored
      ? `the authorisation of connection '${connection.name}' has expired: connect the account again`
      : `connection '${connection.name}' is not connected yet: authorise it first`,
  )
}

function isUsable(ctx: Ctx, { tokens }: StoredTokens, rejected: string | undefined): boolean {
  const isExpired = tokens.expires_at !== null && tokens.expires_at <= isoNow(ctx)
  return !isExpired && tokens.access_token !== rejected
}

/** Waits while another caller renews the token; becomes the one that does when the lock is free. */
async function renewOnce(
  ctx: Ctx,
  connection: Connection,
  secret: string | null,
  rejected: string | undefined,
): Promise<string> {
  const timeout = new AbortController()
  const cancelTimeout = ctx.world.clock.after(MAX_WAIT_MS, () => timeout.abort())
  let awaited: number | null = null
  const check = async (): Promise<string | null> => {
    const stored = await readTokens(ctx, connection)
    if (stored && isUsable(ctx, stored, rejected)) return stored.tokens.access_token
    const lock = await findTokenLock(ctx.db, connection.id)
    // The attempt that this caller waited for has failed, and a second one would fail the same way.
    if (lock && awaited !== null && lock.attempt >= awaited && lock.error) throw new TokenRequestFailed(lock.error)
    const attempt = await inTx(ctx, (tx) => acquireTokenLock(tx.db, connection.id, lockTimes(ctx)))
    if (attempt !== null) return renewUnderLock(ctx, connection, secret, { rejected, attempt })
    awaited ??= lock?.attempt ?? 1
    return null
  }
  const topic = { topic: 'tokens-changed', id: connection.id } as const
  const token = await waitFor(ctx, { topic, signal: timeout.signal, pollMs: POLL_MS, check }).finally(cancelTimeout)
  if (token === null) throw new TokenRequestFailed('another call has been waiting for the token endpoint for too long')
  return token
}

const lockTimes = ({ world: { clock } }: Ctx) => ({
  now: toIsoTime(clock.now()),
  expiresAt: toIsoTime(clock.now() + LOCK_MS),
})

interface Renewal {
  rejected: string | undefined
  attempt: number
}

async function renewUnderLock(
  ctx: Ctx,
  connection: Connection,
  secret: string | null,
  { rejected, attempt }: Renewal,
): Promise<string> {
  let stored: StoredTokens | null = null
  let renewed: OauthTokens | null = null
  try {
    // Another caller may have stored new tokens before this one got the lock.
    stored = await readTokens(ctx, connection)
    if (!stored || !isUsable(ctx, stored, rejected)) renewed = await requestRenewal(ctx, connection, secret, stored)
  } catch (error) {
    await releaseFailed(ctx, connection, { attempt, stored, error })
    throw error
  }
  return storeRenewal(ctx, connection, { attempt, stored, renewed })
}

async function requestRenewal(
  ctx: Ctx,
  connection: Connection,
  secret: string | null,
  stored: StoredTokens | null,
): Promise<OauthTokens> {
  requireRenewable(connection, stored)
  const auth = parseAuthConfig(connection)
  const endpoint = stored?.tokens.endpoint ?? (auth.type === 'oauth2' ? auth : null)
  if (!endpoint) throw new SecretUnavailable(`connection '${connection.name}' has no token endpoint: connect it again`)
  const problem = findIssuerProblem(connection, stored?.tokens.endpoint?.issuer)
  if (problem !== null) throw new SecretUnavailable(problem)
  const refreshToken = stored?.tokens.refresh_token
  const isOwnClient = auth.type === 'oauth2' && auth.grant === 'client_credentials'
  const grant = isOwnClient
    ? ({ kind: 'client_credentials', scopes: auth.scopes } as const)
    : ({ kind: 'refresh', refreshToken: refreshToken ?? '' } as const)
  const tokens = await requestTokens(ctx, endpoint, secret, grant)
  return { ...tokens, endpoint: stored?.tokens.endpoint }
}

interface RenewalResult {
  attempt: number
  stored: StoredTokens | null
  renewed: OauthTokens | null
}

/** Stores the tokens before their first use: a rotated refresh token that is lost would end the authorisation. */
async function storeRenewal(
  ctx: Ctx,
  connection: Connection,
  { attempt, stored, renewed }: RenewalResult,
): Promise<string> {
  await inDurableTx(ctx, async (tx) => {
    // The order of the locks is that of every other change of a connection: the project first.
    if (renewed) await lockProject(tx.db, connection.project_id)
    const current = renewed && (await findConnection(tx.db, connection.id))
    // If the connection names another app by now, these tokens are not its own.
    if (renewed && current && !isOtherOauthApp(connection.config, current.config)) {
      await replaceTokens(tx.db, toVaultRow(sealTokens(tx, connection, renewed)), stored?.envelope ?? null)
      // A connection that was authorised before issuers were pinned.
      await pinIssuer(tx, current, renewed.endpoint?.issuer)
    }
    await releaseTokenLock(tx.db, connection.id, attempt, null)
    tx.publishAfterCommit({ topic: 'tokens-changed', id: connection.id })
  })
  // If a person authorised again meanwhile, their tokens were kept.
  const current = await readTokens(ctx, connection)
  if (!current) throw new SecretUnavailable(`connection '${connection.name}' was deleted or changed: try again`)
  return current.tokens.access_token
}

interface FailedRenewal {
  attempt: number
  stored: StoredTokens | null
  error: unknown
}

/** Revoked tokens are deleted, so that the connection shows that it needs an authorisation. */
async function releaseFailed(ctx: Ctx, connection: Connection, { attempt, stored, error }: FailedRenewal) {
  const message = error instanceof SecretUnavailable ? error.message : 'the access token could not be renewed'
  const isRevoked = error instanceof TokenRequestFailed && error.isRevoked
  await inDurableTx(ctx, async (tx) => {
    if (isRevoked && stored) {
      await deleteTokenRow(tx.db, connection.project_id, tokenKey(connection), stored.envelope)
    }
    await releaseTokenLock(tx.db, connection.id, attempt, message)
    tx.publishAfterCommit({ topic: 'tokens-changed', id: connection.id })
  })
}
