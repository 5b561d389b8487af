import { hash } from 'node:crypto'
import { appendAuditEntry } from '../../../audit/append.ts'
import { newToken, tokenHash } from '../../../platform/base/tokens.ts'
import { type Ctx, inTx, type Tx } from '../../../platform/ctx/ctx.ts'
import type { Actor } from '../../../platform/ctx/scope.ts'
import { isoNow, toIsoTime } from '../../../platform/ctx/world.ts'
import { isMcpResource, mcpResource, revokeMcpAuthorisation } from './authorise.ts'
import { oauthProblem } from './apps.ts'
import {
  deleteExpiredMcpTokens,
  deleteUnusedMcpApps,
  findMcpCode,
  findMcpToken,
  insertMcpTokens,
  updateMcpAuthorisationUse,
  updateMcpCodeAsUsed,
  updateMcpTokenAsUsed,
} from './rows.ts'

const ACCESS_LIFETIME_S = 15 * 60
const DAY_MS = 24 * 60 * 60_000
const REFRESH_LIFETIME_MS = 30 * DAY_MS

/** The fields of a form; a field that is sent twice is not in it, because two parsers could choose differently. */
export type TokenForm = ReadonlyMap<string, string>

/** The token endpoint: exchanges a code, or a refresh token, for a new pair of tokens. */
export async function exchangeForTokens(ctx: Ctx, form: TokenForm) {
  const grantType = requiredField(form, 'grant_type')
  if (!isMcpResource(ctx, form.get('resource')))
    throw oauthProblem('invalid_target', `resource must be ${mcpResource(ctx)}`)
  if (grantType === 'authorization_code') return exchangeCode(ctx, form)
  if (grantType === 'refresh_token') return exchangeRefreshToken(ctx, form)
  throw oauthProblem('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token')
}

async function exchangeCode(ctx: Ctx, form: TokenForm) {
  const code = tokenHash(requiredField(form, 'code'))
  const verifier = requiredField(form, 'code_verifier')
  const redirectUri = requiredField(form, 'redirect_uri')
  const appId = requiredField(form, 'client_id')
  return inTx(ctx, async (tx) => {
    const found = await findMcpCode(tx.db, code, isoNow(tx))
    const isOwn = found && found.app_id === appId && found.redirect_uri === redirectUri
    if (!isOwn || hash('sha256', verifier, 'base64url') !== found.code_challenge) return null
    if (await updateMcpCodeAsUsed(tx.db, code, isoNow(tx))) {
      const tokens = await issueTokens(tx, found)
      await appendAuditEntry(tx, found.project_id, memberActor(found), 'mcp_app.connected', found.authorisation_id)
      return tokens
    }
    // One of the two that sent the code is not the app.
    await revokeMcpAuthorisation(tx, memberActor(found), authorisationOf(found), 'code used twice')
    return null
  }).then((tokens) => requireTokens(tokens, 'the code is not valid, has expired or was used before'))
}

async function exchangeRefreshToken(ctx: Ctx, form: TokenForm) {
  const token = tokenHash(requiredField(form, 'refresh_token'))
  const appId = requiredField(form, 'client_id')
  return inTx(ctx, async (tx) => {
    const found = await findMcpToken(tx.db, token, isoNow(tx))
    if (found?.kind !== 'refresh' || found.app_id !== appId) return null
    if (await updateMcpTokenAsUsed(tx.db, token, isoNow(tx))) return issueTokens(tx, found)
    // Each refresh token is used once: a second use means that it was stolen, before or after the first.
    await revokeMcpAuthorisation(tx, memberActor(found), authorisationOf(found), 'refresh token used twice')
    return null
  }).then((tokens) => requireTokens(tokens, 'the refresh token is not valid, has expired or was used before'))
}

/** RFC 7009: returning one token ends the whole authorisation. An unknown token is no error. */
export async function revokeMcpToken(ctx: Ctx, form: TokenForm): Promise<void> {
  const token = tokenHash(requiredField(form, 'token'))
  await inTx(ctx, async (tx) => {
    const found = await findMcpToken(tx.db, token, isoNow(tx))
    if (found) await revokeMcpAuthorisation(tx, memberActor(found), authorisationOf(found), 'returned by the app')
  })
}

interface FoundGrant {
  authorisation_id: string
  project_id: string
  member_id: string
  role: string
}

const memberActor = ({ member_id }: FoundGrant): Actor => ({ kind: 'member', id: member_id })
const authorisationOf = ({ authorisation_id, project_id }: FoundGrant) => ({ id: authorisation_id, project_id })

/** The problem is thrown after the commit, because a revocation must be kept. */
function requireTokens<T>(tokens: T | null, description: string): T {
  if (tokens === null) throw oauthProblem('invalid_grant', description)
  return tokens
}

async function issueTokens(tx: Tx, { authorisation_id, role }: FoundGrant) {
  const now = tx.world.clock.now()
  const access = newToken('mcpAccess', tx.world.random)
  const refresh = newToken('mcpRefresh', tx.world.random)
  const row = { authorisation_id, used_at: null }
  const accessExpiry = toIsoTime(now + ACCESS_LIFETIME_S * 1000)
  const refreshExpiry = toIsoTime(now + REFRESH_LIFETIME_MS)
  await insertMcpTokens(tx.db, [
    { ...row, hash: tokenHash(access), kind: 'access', expires_at: accessExpiry },
    { ...row, hash: tokenHash(refresh), kind: 'refresh', expires_at: refreshExpiry },
  ])
  await updateMcpAuthorisationUse(tx.db, authorisation_id, toIsoTime(now))
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: ACCESS_LIFETIME_S,
    refresh_token: refresh,
    scope: role,
  }
}

function requiredField(form: TokenForm, name: string): string {
  const value = form.get(name)
  if (!value) throw oauthProblem('invalid_request', `field '${name}' is required once`)
  return value
}

/** Keeps the tables small; expired codes and tokens are ignored anyway. */
export async function removeExpiredMcpAccess(ctx: Ctx): Promise<void> {
  const now = ctx.world.clock.now()
  await inTx(ctx, async (tx) => {
    await deleteExpiredMcpTokens(tx.db, toIsoTime(now))
    await deleteUnusedMcpApps(tx.db, toIsoTime(now - DAY_MS), toIsoTime(now - 90 * DAY_MS))
  })
}
