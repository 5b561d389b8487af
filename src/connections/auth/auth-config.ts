import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { validateFields } from '../../platform/http/validate.ts'

const text = z.string().min(1).max(512)

const endpointUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https url' })
  .max(2048)
  .refine((url) => !/^https?:\/\/[^/?#]*@/i.test(url), 'must not carry a user or password')
  .refine((url) => !url.includes('#'), 'must not have a fragment')

/** A header of HTTP itself would change how the request is read. */
const RESERVED_HEADERS =
  /^(host|content-length|content-type|transfer-encoding|connection|upgrade|te|trailer|expect|accept-encoding|proxy-.*)$/i

const oauth2 = {
  type: z.literal('oauth2'),
  token_url: endpointUrl,
  client_id: text,
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be a scope without blanks and quotes'))
    .default([]),
  /** How the client proves itself at the token endpoint: HTTP Basic, or fields of the form. */
  client_auth: z.enum(['basic', 'post']).default('basic'),
  /** If given, the `iss` parameter of the callback must be equal. */
  issuer: endpointUrl.optional(),
}

/** `config.auth` of a connection. The connection's secret is always the secret half. */
export const AuthConfigSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('bearer') }),
  z.object({
    type: z.literal('header'),
    name: text
      .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be the name of a header')
      .refine((name) => !RESERVED_HEADERS.test(name), 'must not be a header of HTTP itself'),
    prefix: z
      .string()
      .max(64)
      .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')
      .default(''),
  }),
  z.object({
    type: z.literal('basic'),
    username: z
      .string()
      .max(512)
      .regex(/^[^:\p{Cc}]*$/u, 'must not contain a colon or control characters'),
  }),
  z.object({ type: z.literal('query'), name: text.regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without blanks') }),
  z.object({
    type: z.literal('sigv4'),
    region: text.regex(/^[A-Za-z0-9-]+$/, 'must be a region such as eu-central-1'),
    service: text.regex(/^[A-Za-z0-9-]+$/, 'must be a service such as ses'),
    access_key_id: text.regex(/^\w+$/, 'must be an access key id'),
  }),
  /** The server says where it is authorised. Without a client id, the service registers itself there. */
  z.object({
    type: z.literal('mcp'),
    client_id: text.optional(),
    scopes: oauth2.scopes,
    /** The only authorization server that gets the client secret. Written at the first authorisation; null clears it. */
    issuer: endpointUrl.nullish(),
  }),
  z.discriminatedUnion('grant', [
    z.object({ ...oauth2, grant: z.literal('authorization_code'), authorize_url: endpointUrl }),
    z.object({ ...oauth2, grant: z.literal('client_credentials') }),
  ]),
])

export type AuthConfig = z.output<typeof AuthConfigSchema>

/** The kinds of connections whose requests carry the credential that `config.auth` describes. */
const KINDS_WITH_AUTH = ['custom', 'email', 'mcp']

/** How a connection authorizes its requests; a 400 that names the wrong field. Without `config.auth`: bearer. */
export function parseAuthConfig({ kind, config }: { kind: string; config: JsonObject }): AuthConfig {
  const { auth } = config
  if (auth === undefined || auth === null || !KINDS_WITH_AUTH.includes(kind)) return { type: 'bearer' }
  const schema = z.object({ config: z.object({ auth: AuthConfigSchema }) })
  const valid = validateFields(schema, { config: { auth } }, 'field').config.auth
  if (valid.type === 'mcp' && kind !== 'mcp') throw badRequest("field 'config.auth.type' must not be 'mcp' here")
  return valid
}

/** True for connections that work only after a person has authorized them at the provider. Never throws. */
export function needsAuthorisation({ kind, config: { auth } }: { kind: string; config: JsonObject }): boolean {
  if (!KINDS_WITH_AUTH.includes(kind) || !isJsonObject(auth)) return false
  return auth.type === 'mcp' || (auth.type === 'oauth2' && auth.grant !== 'client_credentials')
}

/** True if tokens of the one config must not be used with the other: they belong to another app or provider. */
export function isOtherOauthApp(before: JsonObject, after: JsonObject): boolean {
  const pinned = pinnedIssuer(before)
  return oauthApp(before) !== oauthApp(after) || (pinned !== null && pinned !== pinnedIssuer(after))
}

function oauthApp({ auth, url }: JsonObject): string | null {
  if (isJsonObject(auth) && auth.type === 'mcp') return JSON.stringify(['mcp', url ?? null, auth.client_id ?? null])
  if (!isJsonObject(auth) || auth.type !== 'oauth2') return null
  return JSON.stringify([auth.grant, auth.authorize_url ?? null, auth.token_url, auth.client_id])
}

/** The issuer that an MCP connection is authorised at: client secrets and refresh tokens go to no other one. */
export function pinnedIssuer({ auth }: JsonObject): string | null {
  return isJsonObject(auth) && auth.type === 'mcp' && typeof auth.issuer === 'string' ? auth.issuer : null
}
