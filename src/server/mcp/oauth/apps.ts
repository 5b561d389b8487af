import { z } from 'zod'
import { limitOpenCalls } from '../../../identity/limits/rate-windows.ts'
import { isLoopback, toClientNetwork } from '../../../platform/base/ip-address.ts'
import type { JsonObject } from '../../../platform/base/json.ts'
import { oneLine } from '../../../platform/base/text.ts'
import { Problem, tooManyRequests } from '../../../platform/base/problem.ts'
import { type Ctx, inTx } from '../../../platform/ctx/ctx.ts'
import { isoNow } from '../../../platform/ctx/world.ts'
import { validateFields } from '../../../platform/http/validate.ts'
import type { McpAppRow } from '../../../platform/store/tables.ts'
import { countMcpApps, insertMcpApp } from './rows.ts'

/** Anybody may register an app, so both the rate and the number of apps are limited. Unused apps are deleted. */
const MAX_REGISTRATIONS_PER_NETWORK = 30
const MAX_APPS = 10_000
const MAX_REDIRECT_URI_CHARACTERS = 2_000

const RegistrationRequest = z.object({
  client_name: z.string().max(200).transform(oneLine).optional(),
  redirect_uris: z.array(z.string().max(MAX_REDIRECT_URI_CHARACTERS)).min(1).max(10),
})

/** Registers an app (RFC 7591). It has no secret: PKCE and the exact redirect URI protect its codes. */
export async function registerMcpApp(ctx: Ctx, body: JsonObject, address: string): Promise<McpAppRow> {
  await limitOpenCalls(ctx, `mcp-app:${toClientNetwork(address)}`, MAX_REGISTRATIONS_PER_NETWORK, 'registrations')
  const { client_name, redirect_uris } = readRegistration(body)
  const app = {
    id: ctx.world.newId('app'),
    name: client_name || new URL(redirect_uris[0] ?? '').host,
    redirect_uris: JSON.stringify(redirect_uris),
    created_at: isoNow(ctx),
    last_used_at: null,
  }
  await inTx(ctx, async (tx) => {
    if ((await countMcpApps(tx.db)) >= MAX_APPS) throw tooManyRequests('too many apps: try again tomorrow', 3600)
    await insertMcpApp(tx.db, app)
  })
  return app
}

/**
 * Whether the app has registered the redirect URI. An installed app may listen on another port at each start, so the port of
 * a loopback URI does not count (RFC 8252, section 7.3); everything else is compared exactly.
 */
export function isRegisteredRedirectUri(app: Pick<McpAppRow, 'redirect_uris'>, uri: string): boolean {
  const registered = parseRedirectUris(app)
  if (registered.includes(uri)) return true
  const ofAnyPort = withoutLoopbackPort(uri)
  return ofAnyPort !== null && registered.some((one) => withoutLoopbackPort(one) === ofAnyPort)
}

/** Null for other URIs. It reads the text itself, because a parser could accept more than a browser. */
function withoutLoopbackPort(uri: string): string | null {
  const [, start, rest] = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?((?:[/?].*)?)$/.exec(uri) ?? []
  return start !== undefined && URL.canParse(uri) ? `${start}${rest}` : null
}

export const parseRedirectUris = (app: Pick<McpAppRow, 'redirect_uris'>): string[] =>
  z.array(z.string()).parse(JSON.parse(app.redirect_uris))

function readRegistration(body: JsonObject): z.output<typeof RegistrationRequest> {
  const registration = asOauthProblem(() => validateFields(RegistrationRequest, body, 'field'))
  const wrong = registration.redirect_uris.find((uri) => !isAllowedRedirectUri(uri))
  if (wrong !== undefined)
    throw oauthProblem('invalid_redirect_uri', 'a redirect URI must be an https URL, a loopback URL or an app URL')
  return registration
}

function asOauthProblem<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Problem) throw oauthProblem('invalid_client_metadata', error.message)
    throw error
  }
}

/** Schemes that a browser handles itself, so that a redirect would run a script or read a file. */
const BROWSER_SCHEMES = [
  'javascript',
  'data',
  'vbscript',
  'file',
  'blob',
  'filesystem',
  'about',
  'view-source',
  'intent',
]
const NETWORK_SCHEMES = ['ws', 'wss', 'ftp']

/** HTTPS, HTTP on this machine, or the scheme of an installed app. A fragment or a password would be ambiguous. */
function isAllowedRedirectUri(uri: string): boolean {
  if (!URL.canParse(uri)) return false
  const { protocol, hostname, hash, username, password, href } = new URL(uri)
  const scheme = protocol.slice(0, -1)
  // Written differently, such as with a line break in the scheme, two parsers could understand it in two ways.
  if (hash !== '' || uri.includes('#') || username !== '' || password !== '' || !href.startsWith(uri.slice(0, 10)))
    return false
  if (scheme === 'https') return true
  if (scheme === 'http') return isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'))
  return hostname !== '' && ![...BROWSER_SCHEMES, ...NETWORK_SCHEMES].includes(scheme)
}

/** An error in the form of RFC 6749 and RFC 7591: `{error: "invalid_grant", error_description: "…"}`. */
export const oauthProblem = (error: string, description: string): Problem =>
  new Problem(400, error, { extra: { error_description: description }, headers: NO_STORE })

/** Responses of the token endpoint must not stay in a cache. */
export const NO_STORE = { 'cache-control': 'no-store' }
