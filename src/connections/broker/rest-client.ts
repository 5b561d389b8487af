import { objectField, objectListField, textField } from '../../platform/base/json-fields.ts'
import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import { Problem } from '../../platform/base/problem.ts'
import { parseStrictJson } from '../../platform/base/strict-json.ts'
import { removeTrailingSlashes } from '../../platform/base/text.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { CALL_TIMEOUT_MS, createEgressClient, EgressError, MAX_CALL_BYTES } from '../../platform/egress/http-client.ts'
import { createSecretMask, type SecretMask } from '../../identity/vault/mask-secrets.ts'
import type {
  AuthorisationLink,
  AuthorisationRequest,
  Broker,
  BrokerAccount,
  BrokerToolResult,
  ToolExecution,
  Toolkit,
  ToolkitPage,
  ToolkitQuery,
} from './broker.ts'

const MAX_MANAGEMENT_BYTES = 1024 * 1024

/** The broker of this deployment, or null without BROKER_API_KEY. */
export function createBroker(ctx: Ctx): Broker | null {
  if (!ctx.world.env('BROKER_API_KEY')) return null
  return {
    listToolkits: (query) => listToolkits(ctx, query),
    createAuthorisationLink: (request) => createAuthorisationLink(ctx, request),
    getAccount: (accountId) => getAccount(ctx, accountId),
    executeTool: (execution) => executeTool(ctx, execution),
  }
}

export function requireBroker(ctx: Ctx): Broker {
  const broker = createBroker(ctx)
  if (!broker) throw new Problem(501, 'broker is not configured: set BROKER_API_KEY')
  return broker
}

async function listToolkits(ctx: Ctx, { search, limit, cursor }: ToolkitQuery): Promise<ToolkitPage> {
  const query = new URLSearchParams({ limit: String(limit) })
  if (search) query.set('search', search)
  if (cursor) query.set('cursor', cursor)
  const body = await callManagement(ctx, 'GET', `toolkits?${query.toString()}`)
  return { data: objectListField(body, 'items').map(toToolkit), next_cursor: textField(body, 'next_cursor') || null }
}

async function createAuthorisationLink(ctx: Ctx, request: AuthorisationRequest): Promise<AuthorisationLink> {
  const body = await callManagement(ctx, 'POST', 'connected_accounts/link', {
    auth_config_id: await findOrCreateAuthConfig(ctx, request.toolkit),
    user_id: request.userId,
    ...(request.callbackUrl ? { callback_url: request.callbackUrl } : {}),
  })
  const accountId = textField(body, 'connected_account_id')
  if (!accountId) throw new Problem(502, 'broker returned no account for the authorisation')
  return {
    accountId,
    redirectUrl: textField(body, 'redirect_url') || null,
    expiresAt: textField(body, 'expires_at') || null,
  }
}

/** The id of the first enabled auth config of the toolkit, else of a new one under the provider's own app. */
async function findOrCreateAuthConfig(ctx: Ctx, toolkit: string): Promise<string> {
  const query = new URLSearchParams({ toolkit_slug: toolkit }).toString()
  const configs = objectListField(await callManagement(ctx, 'GET', `auth_configs?${query}`), 'items')
  const usable = configs.find((config) => config.status !== 'DISABLED' && toolkitSlug(config, toolkit) === toolkit)
  const id = textField(usable ?? {}, 'id') || (await createAuthConfig(ctx, toolkit))
  if (!id) throw new Problem(502, `broker has no auth config for toolkit '${toolkit}'`)
  return id
}

async function createAuthConfig(ctx: Ctx, toolkit: string): Promise<string> {
  const body = await callManagement(ctx, 'POST', 'auth_configs', {
    toolkit: { slug: toolkit },
    auth_config: { type: 'use_composio_managed_auth' },
  })
  return textField(isJsonObject(body.auth_config) ? body.auth_config : body, 'id')
}

async function getAccount(ctx: Ctx, accountId: string): Promise<BrokerAccount> {
  const body = await callManagement(ctx, 'GET', `connected_accounts/${encodeURIComponent(accountId)}`)
  return { status: textField(body, 'status') || 'INACTIVE', userId: textField(body, 'user_id') || null }
}

async function executeTool(ctx: Ctx, execution: ToolExecution): Promise<BrokerToolResult> {
  const { slug, userId, accountId, arguments: args, idempotencyKey } = execution
  const response = await callBroker(ctx, 'POST', `tools/execute/${encodeURIComponent(slug)}`, {
    body: { user_id: userId, connected_account_id: accountId, arguments: args },
    headers: idempotencyKey ? { 'idempotency-key': idempotencyKey } : {},
    maxBytes: MAX_CALL_BYTES,
  })
  const body = isJsonObject(response.body) ? response.body : {}
  // The provider responds 200 also when the tool failed.
  const accepted = response.status >= 200 && response.status < 300
  const ok = accepted && body.successful === true
  const error = ok ? null : errorText(body) || `broker answered ${response.status}`
  const unclear = accepted && typeof body.successful !== 'boolean'
  return { ok, status: response.status, data: body.data ?? null, error, unclear }
}

/** Calls the account management API. Every failure becomes a 502 or 504, because the caller did nothing wrong. */
async function callManagement(ctx: Ctx, method: string, path: string, body?: JsonObject): Promise<JsonObject> {
  try {
    const response = await callBroker(ctx, method, path, {
      ...(body ? { body } : {}),
      maxBytes: MAX_MANAGEMENT_BYTES,
    })
    if (response.status >= 200 && response.status < 300 && isJsonObject(response.body)) return response.body
    const reason = isJsonObject(response.body) ? errorText(response.body) : ''
    throw new Problem(502, `broker answered ${response.status}${reason ? `: ${reason}` : ''}`)
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    throw new Problem(error.kind === 'timeout' ? 504 : 502, `broker failed: ${error.message}`)
  }
}

interface BrokerCallOptions {
  body?: JsonObject
  headers?: Record<string, string>
  maxBytes: number
}

interface BrokerResponse {
  status: number
  body: Json
}

async function callBroker(
  ctx: Ctx,
  method: string,
  path: string,
  { body, headers = {}, maxBytes }: BrokerCallOptions,
): Promise<BrokerResponse> {
  const base = removeTrailingSlashes(ctx.config.brokerBaseUrl)
  const key = ctx.world.env('BROKER_API_KEY') ?? ''
  const response = await createEgressClient(ctx, { trusted: [new URL(base).hostname] }).request({
    url: `${base}/api/v3.1/${path}`,
    method,
    headers: {
      'x-api-key': key,
      accept: 'application/json',
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...headers,
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
    timeoutMs: CALL_TIMEOUT_MS,
    maxBytes,
  })
  return { status: response.status, body: parseMasked(response.body, createSecretMask([key])) }
}

function parseMasked(bytes: Buffer, mask: SecretMask): Json {
  try {
    return mask.json(parseStrictJson(bytes))
  } catch {
    return null
  }
}

function toToolkit(item: JsonObject): Toolkit {
  const slug = textField(item, 'slug')
  return {
    slug,
    name: textField(item, 'name') || slug,
    description: textField(objectField(item, 'meta'), 'description') || null,
  }
}

const toolkitSlug = (config: JsonObject, fallback: string) =>
  textField(objectField(config, 'toolkit'), 'slug') || fallback

function errorText(body: JsonObject): string {
  return (textField(body, 'error') || textField(objectField(body, 'error'), 'message')).slice(0, 300)
}
