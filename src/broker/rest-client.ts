import { objectField, objectListField, textField } from '../base/json-fields.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { Problem } from '../base/problem.ts'
import { parseStrictJson } from '../base/strict-json.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type {
  BrokerAccount,
  Broker,
  BrokerToolResult,
  ToolExecution,
  AuthorisationLink,
  Toolkit,
  ToolkitPage,
} from './broker.ts'
import { EgressError, createEgressClient } from '../egress/http-client.ts'
import { CALL_TIMEOUT_MS, MAX_CALL_BYTES } from '../egress/limits.ts'
import { type SecretMask, createSecretMask } from '../vault/mask-secrets.ts'

/** The broker of this deployment, or null: without a key there is none. */
export function createBroker(ctx: Ctx): Broker | null {
  if (!ctx.world.env('BROKER_API_KEY')) return null
  return {
    toolkits: (ask) => listToolkits(ctx, ask),
    link: (ask) => startLink(ctx, ask),
    account: (accountId) => findAccount(ctx, accountId),
    execute: (ask) => executeTool(ctx, ask),
  }
}

export function requireBroker(ctx: Ctx): Broker {
  const broker = createBroker(ctx)
  if (!broker) throw new Problem(501, 'broker is not configured: set BROKER_API_KEY')
  return broker
}

async function listToolkits(ctx: Ctx, ask: Parameters<Broker['toolkits']>[0]): Promise<ToolkitPage> {
  const query = new URLSearchParams({ limit: String(ask.limit) })
  if (ask.search) query.set('search', ask.search)
  if (ask.cursor) query.set('cursor', ask.cursor)
  const answer = await callManagement(ctx, 'GET', `toolkits?${query.toString()}`)
  return {
    data: objectListField(answer, 'items').map(toToolkit),
    next_cursor: textField(answer, 'next_cursor') || null,
  }
}

async function startLink(ctx: Ctx, ask: Parameters<Broker['link']>[0]): Promise<AuthorisationLink> {
  const answer = await callManagement(ctx, 'POST', 'connected_accounts/link', {
    auth_config_id: await authConfigFor(ctx, ask.toolkit),
    user_id: ask.userId,
    ...(ask.callbackUrl ? { callback_url: ask.callbackUrl } : {}),
  })
  const accountId = textField(answer, 'connected_account_id')
  if (!accountId) throw new Problem(502, 'broker named no account for the authorisation')
  return {
    accountId,
    redirectUrl: textField(answer, 'redirect_url') || null,
    expiresAt: textField(answer, 'expires_at') || null,
  }
}

/** The provider's settings for a toolkit: the first that is enabled, else new ones under the provider's own app. */
async function authConfigFor(ctx: Ctx, toolkit: string): Promise<string> {
  const query = new URLSearchParams({ toolkit_slug: toolkit }).toString()
  const known = objectListField(await callManagement(ctx, 'GET', `auth_configs?${query}`), 'items')
  const fits = known.find((item) => item.status !== 'DISABLED' && toolkitSlug(item, toolkit) === toolkit)
  const id = textField(fits ?? {}, 'id') || (await createAuthConfig(ctx, toolkit))
  if (!id) throw new Problem(502, `broker has no way to authorise toolkit '${toolkit}'`)
  return id
}

async function createAuthConfig(ctx: Ctx, toolkit: string): Promise<string> {
  const made = await callManagement(ctx, 'POST', 'auth_configs', {
    toolkit: { slug: toolkit },
    auth_config: { type: 'use_composio_managed_auth' },
  })
  return textField(isJsonObject(made.auth_config) ? made.auth_config : made, 'id')
}

async function findAccount(ctx: Ctx, accountId: string): Promise<BrokerAccount> {
  const answer = await callManagement(ctx, 'GET', `connected_accounts/${encodeURIComponent(accountId)}`)
  return { status: textField(answer, 'status') || 'INACTIVE', userId: textField(answer, 'user_id') || null }
}

async function executeTool(ctx: Ctx, ask: ToolExecution): Promise<BrokerToolResult> {
  const answer = await callBroker(ctx, 'POST', `tools/execute/${encodeURIComponent(ask.slug)}`, {
    body: { user_id: ask.userId, connected_account_id: ask.accountId, arguments: ask.arguments },
    headers: ask.idempotencyKey ? { 'idempotency-key': ask.idempotencyKey } : {},
    maxBytes: MAX_CALL_BYTES,
  })
  const told = isJsonObject(answer.body) ? answer.body : {}
  // The provider answers 200 to a tool that failed.
  const accepted = answer.status >= 200 && answer.status < 300
  const ok = accepted && told.successful === true
  const why = errorText(told) || `broker answered ${answer.status}`
  const unclear = accepted && typeof told.successful !== 'boolean'
  return { ok, status: answer.status, data: told.data ?? null, error: ok ? null : why, unclear }
}

/** A call of the account management; everything but success is the provider's fault to the caller. */
async function callManagement(ctx: Ctx, method: string, path: string, body?: JsonObject): Promise<JsonObject> {
  try {
    const answer = await callBroker(ctx, method, path, { ...(body ? { body } : {}), maxBytes: 1024 * 1024 })
    if (answer.status >= 200 && answer.status < 300 && isJsonObject(answer.body)) return answer.body
    const why = isJsonObject(answer.body) ? errorText(answer.body) : ''
    throw new Problem(502, `broker answered ${answer.status}${why ? `: ${why}` : ''}`)
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
  const base = ctx.config.brokerBaseUrl.replace(/\/+$/, '')
  const key = ctx.world.env('BROKER_API_KEY') ?? ''
  const answer = await createEgressClient(ctx, { trusted: [new URL(base).hostname] }).request({
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
  return { status: answer.status, body: parseMasked(answer.body, createSecretMask([key])) }
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

const toolkitSlug = (config: JsonObject, otherwise: string) =>
  textField(objectField(config, 'toolkit'), 'slug') || otherwise

function errorText(told: JsonObject): string {
  return (textField(told, 'error') || textField(objectField(told, 'error'), 'message')).slice(0, 300)
}
