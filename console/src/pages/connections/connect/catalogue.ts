import type { Preset } from '../../../api/connection-queries.ts'
import { toObject, toText } from '../../../api/json.ts'
import type { BrokerToolkit, Connection, ConnectionKind } from '../../../api/setup-queries.ts'
import type { JsonObject } from '../../../api/types.ts'
import { API_AUTH_TYPES, type AuthType, BEARER, MCP_AUTH_TYPES } from './auth-types.ts'
import type { EntryField, EntrySecret } from './entry-fields.ts'
import { connectText } from './text.ts'

const text = connectText.entries

export type EntryGroup = 'services' | 'mail' | 'other' | 'apps'

/** Something that can be connected. The form of the next step is made from it. */
export interface CatalogueEntry {
  id: string
  group: EntryGroup
  title: string
  description: string
  kind: ConnectionKind
  preset: string | null
  /** The broker's name of the app. */
  toolkit: string | null
  docs: string | null
  suggestedName: string
  fields: EntryField[]
  /** The ways to authorise that the form offers; the preset or the kind decides if there is only one. */
  authTypes: AuthType[]
  /** Null if the type of authorisation says which secret is needed. */
  secret: EntrySecret | null
  /** The person registers an OAuth app at the provider, with the redirect URI of this service. */
  isOauthApp: boolean
  /** The connection exists and lacks only its credential. */
  isExisting: boolean
}

const NO_CHOICE = {
  preset: null,
  toolkit: null,
  docs: null,
  authTypes: [],
  fields: [],
  secret: null,
  isOauthApp: false,
  isExisting: false,
}

const field = (name: keyof typeof text.fields, more: Partial<EntryField> = {}): EntryField => ({
  name,
  type: 'string',
  required: true,
  ...text.fields[name],
  ...more,
})

const BUILT_IN: CatalogueEntry[] = [
  {
    ...NO_CHOICE,
    ...text.mcp,
    id: 'mcp',
    group: 'other',
    kind: 'mcp',
    fields: [field('url', text.mcp.url)],
    authTypes: MCP_AUTH_TYPES,
  },
  {
    ...NO_CHOICE,
    ...text.http,
    id: 'http',
    group: 'other',
    kind: 'custom',
    fields: [
      field('base_url', { required: false }),
      field('api_url', { required: false }),
      field('operations', { type: 'json', required: false }),
    ],
    authTypes: API_AUTH_TYPES,
  },
  {
    ...NO_CHOICE,
    ...text.webhook,
    id: 'webhook',
    group: 'other',
    kind: 'webhook',
    fields: [field('url', text.webhook.url)],
    secret: { ...text.webhook.secret, required: false },
  },
  {
    ...NO_CHOICE,
    ...text.mailApi,
    id: 'mail-api',
    group: 'mail',
    kind: 'email',
    fields: [field('api_url', text.mailApi.api_url), field('from')],
    authTypes: [BEARER],
  },
]

export function listEntries(presets: Preset[], toolkits: BrokerToolkit[]): CatalogueEntry[] {
  return [...presets.map(toPresetEntry), ...BUILT_IN, ...toolkits.map(toAppEntry)]
}

function toPresetEntry({ preset, title, description, kind, docs, auth, secret, params }: Preset): CatalogueEntry {
  return {
    ...NO_CHOICE,
    id: `preset:${preset}`,
    group: kind === 'email' ? 'mail' : 'services',
    title,
    description,
    kind,
    preset,
    docs,
    suggestedName: kind === 'email' ? 'mail' : preset,
    fields: params.map((param) => ({
      name: param.name,
      label: param.title,
      hint: param.description,
      type: param.type,
      required: param.default === null,
      example: String(param.example),
      ...(param.default !== null && { initial: String(param.default) }),
    })),
    secret: { ...secret, required: true },
    isOauthApp: auth.type === 'oauth2',
  }
}

function toAppEntry({ slug, name, description }: BrokerToolkit): CatalogueEntry {
  return {
    ...NO_CHOICE,
    id: `app:${slug}`,
    group: 'apps',
    title: name,
    description: description ?? '',
    kind: 'broker',
    toolkit: slug,
    suggestedName: slug,
  }
}

/** The entry with this id; null if there is none. */
export function findEntry(id: string | undefined, presets: Preset[]): CatalogueEntry | null {
  return listEntries(presets, []).find((entry) => entry.id === id) ?? null
}

/** The entry of a connection that exists: its form asks for what is missing and for the credential. */
export function entryOfConnection(connection: Connection, presets: Preset[]): CatalogueEntry {
  const { kind, name, config } = connection
  const preset = presets.find((one) => one.preset === (config['preset'] ?? config['provider']))
  const entry = preset ? toPresetEntry(preset) : BUILT_IN.find((one) => one.kind === kind)
  const auth = authTypeOf(connection)
  // The config of other presets is complete: their parameters were filled in when the connection was created.
  const fields = preset && kind !== 'email' ? [] : missingFields(entry?.fields ?? [], config)
  return {
    ...NO_CHOICE,
    id: connection.id,
    group: 'other',
    title: entry?.title ?? name,
    description: '',
    kind,
    toolkit: kind === 'broker' ? toText(config['toolkit']) : null,
    docs: entry?.docs ?? null,
    suggestedName: name,
    fields,
    isOauthApp: entry?.isOauthApp ?? false,
    authTypes: preset || kind === 'webhook' ? [] : [{ ...auth, fields: [] }],
    secret: entry?.secret ?? null,
    isExisting: true,
  }
}

/** Optional fields are asked for only if no field is set. */
function missingFields(fields: EntryField[], config: JsonObject): EntryField[] {
  const missing = fields.filter(({ name }) => config[name] === undefined)
  return missing.filter(
    ({ required, initial }) => required || initial !== undefined || missing.length === fields.length,
  )
}

function authTypeOf({ kind, config }: Connection): AuthType {
  const { type, grant } = toObject(config['auth'])
  const id = grant === 'client_credentials' ? grant : type
  const types = kind === 'mcp' ? MCP_AUTH_TYPES : API_AUTH_TYPES
  return types.find((one) => one.id === id) ?? BEARER
}

/** Whether the entry contains every typed word. The broker searches its apps itself. */
export function matchesSearch({ group, id, title, description }: CatalogueEntry, search: string): boolean {
  const all = `${id} ${title} ${description}`.toLowerCase()
  return (
    group === 'apps' ||
    search
      .toLowerCase()
      .split(/\s+/)
      .every((word) => all.includes(word))
  )
}

/** Two letters stand for the logo, which would be a trademark. */
export function initialsOf(title: string): string {
  const words = title.match(/[\p{L}\p{N}]+/gu) ?? []
  const [first = '?', second] = words
  return (second ? first.charAt(0) + second.charAt(0) : first.slice(0, 2)).toUpperCase()
}
