import { objectOf, objectsOf, textOf } from '../base/fields.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { Problem } from '../base/problem.ts'
import { parseStrictJson } from '../base/strict-json.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Account, Broker, Executed, Execution, Link, Toolkit, ToolkitPage } from './broker.ts'
import { EgressError, egress } from './egress.ts'
import { CALL_TIMEOUT_MS, MOST_BYTES } from './limits.ts'
import { type Mask, maskOf } from './mask.ts'

/** The broker of this deployment, or null: without a key there is none. */
export function brokerOf(ctx: Ctx): Broker | null {
  if (!ctx.world.env('BROKER_API_KEY')) return null
  return {
    toolkits: (ask) => toolkits(ctx, ask),
    link: (ask) => link(ctx, ask),
    account: (accountId) => account(ctx, accountId),
    execute: (ask) => execute(ctx, ask),
  }
}

export function requireBroker(ctx: Ctx): Broker {
  const broker = brokerOf(ctx)
  if (!broker) throw new Problem(501, 'broker is not configured: set BROKER_API_KEY')
  return broker
}

async function toolkits(ctx: Ctx, ask: Parameters<Broker['toolkits']>[0]): Promise<ToolkitPage> {
  const query = new URLSearchParams({ limit: String(ask.limit) })
  if (ask.search) query.set('search', ask.search)
  if (ask.cursor) query.set('cursor', ask.cursor)
  const answer = await manage(ctx, 'GET', `toolkits?${query.toString()}`)
  return { data: objectsOf(answer, 'items').map(toolkitOf), next_cursor: textOf(answer, 'next_cursor') || null }
}

async function link(ctx: Ctx, ask: Parameters<Broker['link']>[0]): Promise<Link> {
  const answer = await manage(ctx, 'POST', 'connected_accounts/link', {
    auth_config_id: await authConfigFor(ctx, ask.toolkit),
    user_id: ask.userId,
    ...(ask.callbackUrl ? { callback_url: ask.callbackUrl } : {}),
  })
  const accountId = textOf(answer, 'connected_account_id')
  if (!accountId) throw new Problem(502, 'broker named no account for the authorisation')
  return {
    accountId,
    redirectUrl: textOf(answer, 'redirect_url') || null,
    expiresAt: textOf(answer, 'expires_at') || null,
  }
}

/** The provider's settings for a toolkit: the first that is enabled, else new ones under the provider's own app. */
async function authConfigFor(ctx: Ctx, toolkit: string): Promise<string> {
  const query = new URLSearchParams({ toolkit_slug: toolkit }).toString()
  const known = objectsOf(await manage(ctx, 'GET', `auth_configs?${query}`), 'items')
  const fits = known.find((item) => item.status !== 'DISABLED' && slugOf(item, toolkit) === toolkit)
  const id = textOf(fits ?? {}, 'id') || (await createAuthConfig(ctx, toolkit))
  if (!id) throw new Problem(502, `broker has no way to authorise toolkit '${toolkit}'`)
  return id
}

async function createAuthConfig(ctx: Ctx, toolkit: string): Promise<string> {
  const made = await manage(ctx, 'POST', 'auth_configs', {
    toolkit: { slug: toolkit },
    auth_config: { type: 'use_composio_managed_auth' },
  })
  return textOf(isJsonObject(made.auth_config) ? made.auth_config : made, 'id')
}

async function account(ctx: Ctx, accountId: string): Promise<Account> {
  const answer = await manage(ctx, 'GET', `connected_accounts/${encodeURIComponent(accountId)}`)
  return { status: textOf(answer, 'status') || 'INACTIVE', userId: textOf(answer, 'user_id') || null }
}

async function execute(ctx: Ctx, ask: Execution): Promise<Executed> {
  const answer = await call(ctx, 'POST', `tools/execute/${encodeURIComponent(ask.slug)}`, {
    body: { user_id: ask.userId, connected_account_id: ask.accountId, arguments: ask.arguments },
    headers: ask.idempotencyKey ? { 'idempotency-key': ask.idempotencyKey } : {},
    maxBytes: MOST_BYTES,
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
async function manage(ctx: Ctx, method: string, path: string, body?: JsonObject): Promise<JsonObject> {
  try {
    const answer = await call(ctx, method, path, { ...(body ? { body } : {}), maxBytes: 1024 * 1024 })
    if (answer.status >= 200 && answer.status < 300 && isJsonObject(answer.body)) return answer.body
    const why = isJsonObject(answer.body) ? errorText(answer.body) : ''
    throw new Problem(502, `broker answered ${answer.status}${why ? `: ${why}` : ''}`)
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    throw new Problem(error.kind === 'timeout' ? 504 : 502, `broker failed: ${error.message}`)
  }
}

interface CallOptions {
  body?: JsonObject
  headers?: Record<string, string>
  maxBytes: number
}

interface Called {
  status: number
  body: Json
}

async function call(
  ctx: Ctx,
  method: string,
  path: string,
  { body, headers = {}, maxBytes }: CallOptions,
): Promise<Called> {
  const base = ctx.config.brokerBaseUrl.replace(/\/+$/, '')
  const key = ctx.world.env('BROKER_API_KEY') ?? ''
  const answer = await egress(ctx, { trusted: [new URL(base).hostname] }).request({
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
  return { status: answer.status, body: parse(answer.body, maskOf([key])) }
}

function parse(bytes: Buffer, mask: Mask): Json {
  try {
    return mask.json(parseStrictJson(bytes))
  } catch {
    return null
  }
}

function toolkitOf(item: JsonObject): Toolkit {
  const slug = textOf(item, 'slug')
  return {
    slug,
    name: textOf(item, 'name') || slug,
    description: textOf(objectOf(item, 'meta'), 'description') || null,
  }
}

const slugOf = (config: JsonObject, otherwise: string) => textOf(objectOf(config, 'toolkit'), 'slug') || otherwise

function errorText(told: JsonObject): string {
  return (textOf(told, 'error') || textOf(objectOf(told, 'error'), 'message')).slice(0, 300)
}
