import type { JsonObject } from '../../../api/types.ts'
import { type EntryField, type EntrySecret, readFields } from './entry-fields.ts'
import { connectText } from './text.ts'

const text = connectText.auth

/** A way to authorise requests, with the fields of `config.auth` and the secret that it needs. */
export interface AuthType {
  id: string
  label: string
  fields: EntryField[]
  /** Null if no secret is needed. */
  secret: EntrySecret | null
  /** The fixed part of `config.auth`; null leaves `config.auth` out. */
  auth: JsonObject | null
  /** True if a person authorises the connection on the provider's page. */
  isAuthorised?: true
}

const field = (name: keyof typeof text.fields, more: Partial<EntryField> = {}): EntryField => ({
  name,
  type: 'string',
  required: true,
  ...text.fields[name],
  ...more,
})
const secret = (name: keyof typeof text.secrets): EntrySecret => ({ ...text.secrets[name], required: true })

const OAUTH_APP = [field('token_url'), field('client_id'), field('scopes', { required: false })]

export const BEARER: AuthType = {
  id: 'bearer',
  label: text.types.bearer,
  fields: [],
  secret: secret('token'),
  auth: null,
}

export const API_AUTH_TYPES: AuthType[] = [
  BEARER,
  {
    id: 'header',
    label: text.types.header,
    fields: [field('name', text.headerName)],
    secret: secret('key'),
    auth: { type: 'header' },
  },
  {
    id: 'basic',
    label: text.types.basic,
    fields: [field('username')],
    secret: secret('password'),
    auth: { type: 'basic' },
  },
  {
    id: 'query',
    label: text.types.query,
    fields: [field('name', text.queryName)],
    secret: secret('key'),
    auth: { type: 'query' },
  },
  {
    id: 'sigv4',
    label: text.types.sigv4,
    fields: [field('region'), field('service'), field('access_key_id')],
    secret: secret('accessKey'),
    auth: { type: 'sigv4' },
  },
  {
    id: 'oauth2',
    label: text.types.oauth2,
    fields: [field('authorize_url'), ...OAUTH_APP],
    secret: secret('client'),
    auth: { type: 'oauth2', grant: 'authorization_code' },
    isAuthorised: true,
  },
  {
    id: 'client_credentials',
    label: text.types.client_credentials,
    fields: OAUTH_APP,
    secret: secret('client'),
    auth: { type: 'oauth2', grant: 'client_credentials' },
  },
]

export const MCP_AUTH_TYPES: AuthType[] = [
  { id: 'none', label: text.types.none, fields: [], secret: null, auth: null },
  { id: 'bearer', label: text.types.bearer, fields: [], secret: secret('token'), auth: { type: 'bearer' } },
  {
    id: 'mcp',
    label: text.types.mcpOauth,
    fields: [field('client_id', { ...text.ownClient, required: false }), field('issuer', { required: false })],
    secret: { ...text.secrets.ownClient, required: false },
    auth: { type: 'mcp' },
    isAuthorised: true,
  },
]

/** `config.auth` from the form; null if the connection has none. */
export function readAuth({ auth, fields }: AuthType, values: Record<string, string>): JsonObject | null {
  if (auth === null) return null
  const { scopes, ...others } = readFields(fields, values)
  const list = typeof scopes === 'string' ? { scopes: scopes.split(/[\s,]+/) } : {}
  return { ...auth, ...others, ...list }
}
