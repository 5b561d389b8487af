import { isJsonObject, type Json, type JsonObject } from '../../../platform/base/json.ts'
import { usageError } from '../shell/failure.ts'
import { resolveRef, toList, toTextOrEmpty } from './openapi-document.ts'
import type { ListedOperation } from './openapi-list.ts'

export interface AuthOptions {
  /** The name of the security scheme; without it, the simplest one that the operations accept. */
  scheme?: string | undefined
  username?: string | undefined
  clientId?: string | undefined
}

export interface ImportedAuth {
  auth: JsonObject
  scheme: string
  /** What the secret of the connection is, for the hint after the import. */
  secret: string
}

/** The simplest first: the secret is all that they need. */
const PREFERENCE = ['bearer', 'header', 'query', 'basic', 'oauth2']

/** `config.auth` from the security schemes of the document; null if its operations need no credential. */
export function toAuth(document: JsonObject, operations: ListedOperation[], options: AuthOptions): ImportedAuth | null {
  const components = isJsonObject(document.components) ? document.components : {}
  const schemes = isJsonObject(components.securitySchemes) ? components.securitySchemes : {}
  const names = options.scheme === undefined ? acceptedSchemes(document, operations) : [options.scheme]
  if (options.scheme !== undefined && !Object.hasOwn(schemes, options.scheme))
    throw usageError(`option --auth: the document has no security scheme '${options.scheme}'`, listNames(schemes))
  const known = names.flatMap((scheme) => {
    const kind = kindOf(resolveRef(document, schemes[scheme]))
    return kind === null ? [] : [{ scheme, kind, spec: resolveRef(document, schemes[scheme]) }]
  })
  const [best] = known.toSorted((a, b) => PREFERENCE.indexOf(a.kind) - PREFERENCE.indexOf(b.kind))
  if (best) {
    const scopes = neededScopes(document, operations, best.scheme)
    return { scheme: best.scheme, ...describeAuth(best.kind, best.spec, scopes, options) }
  }
  if (names.length === 0) return null
  throw usageError(`the service cannot use the security scheme '${names[0]}'`, listNames(schemes))
}

const listNames = (schemes: JsonObject) => `the document has: ${Object.keys(schemes).join(', ') || 'none'}`

const requirementsOf = (document: JsonObject, operations: ListedOperation[]): JsonObject[] =>
  operations.flatMap(({ spec }) => toList(spec.security ?? document.security)).filter(isJsonObject)

/** Schemes that are used alone, in the order of the document. */
function acceptedSchemes(document: JsonObject, operations: ListedOperation[]): string[] {
  const names = requirementsOf(document, operations).map((one) => Object.keys(one))
  return [...new Set(names.filter((all) => all.length === 1).flat())]
}

/** Only the scopes that the imported operations name, not all that the API has. */
const neededScopes = (document: JsonObject, operations: ListedOperation[], scheme: string): string[] => [
  ...new Set(
    requirementsOf(document, operations)
      .flatMap((one) => toList(one[scheme]))
      .filter((scope) => typeof scope === 'string'),
  ),
]

function kindOf({ type, scheme, in: place, flows }: JsonObject): string | null {
  if (type === 'http') return ['bearer', 'basic'].find((one) => one === toTextOrEmpty(scheme).toLowerCase()) ?? null
  if (type === 'apiKey') return place === 'header' || place === 'query' ? place : null
  if (type !== 'oauth2' || !isJsonObject(flows)) return null
  return isJsonObject(flows.authorizationCode) || isJsonObject(flows.clientCredentials) ? 'oauth2' : null
}

function describeAuth(
  kind: string,
  spec: JsonObject,
  scopes: string[],
  options: AuthOptions,
): Omit<ImportedAuth, 'scheme'> {
  if (kind === 'bearer') return { auth: { type: 'bearer' }, secret: 'the token' }
  if (kind === 'basic') {
    if (options.username === undefined)
      throw usageError('the API uses a user name and a password', 'give --username NAME')
    return { auth: { type: 'basic', username: options.username }, secret: 'the password' }
  }
  const name = toTextOrEmpty(spec.name)
  if (kind === 'header' && name.toLowerCase() === 'authorization')
    return { auth: { type: 'header', name }, secret: 'the whole value of the header' }
  if (kind === 'header' || kind === 'query') return { auth: { type: kind, name }, secret: 'the API key' }
  return { auth: { ...oauthConfig(spec, options), scopes }, secret: 'the client secret' }
}

function oauthConfig({ flows }: JsonObject, { clientId }: AuthOptions): JsonObject {
  if (clientId === undefined) throw usageError('the API uses OAuth 2', 'give --client-id ID of your own app')
  const { authorizationCode, clientCredentials }: JsonObject = isJsonObject(flows) ? flows : {}
  const flow = isJsonObject(authorizationCode) ? authorizationCode : clientCredentials
  const { authorizationUrl, tokenUrl }: JsonObject = isJsonObject(flow) ? flow : {}
  const grant: Json = isJsonObject(authorizationCode) ? 'authorization_code' : 'client_credentials'
  return {
    type: 'oauth2',
    grant,
    ...(grant === 'authorization_code' && { authorize_url: toTextOrEmpty(authorizationUrl) }),
    token_url: toTextOrEmpty(tokenUrl),
    client_id: clientId,
  }
}
