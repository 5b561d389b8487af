import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'

/** In this revision every request names its protocol version. */
const STATELESS_REVISION = '2026-07-28'
/** Revisions that begin with `initialize`. A client that asks for an unknown one gets the first, which is the newest. */
export const HANDSHAKE_REVISIONS = ['2025-11-25', '2025-06-18']
export const PROTOCOL_REVISIONS = [STATELESS_REVISION, ...HANDSHAKE_REVISIONS]

const META = 'io.modelcontextprotocol/'
const VERSION_KEY = `${META}protocolVersion`
const CAPABILITIES_KEY = `${META}clientCapabilities`
export const SERVER_INFO_KEY = `${META}serverInfo`

export interface JsonRpcError {
  code: number
  message: string
  data?: Json
}

export type MethodResult = { result: object } | { error: JsonRpcError }

interface RpcMessage {
  id?: string | number | undefined
  method: string
  params?: JsonObject | undefined
}

type Headers = Record<string, string | string[] | undefined>

/** The kind of revision that a message uses, or the error to send with a 400. */
export function detectRevision(message: RpcMessage, headers: Headers): 'stateless' | 'handshake' | JsonRpcError {
  const { _meta } = message.params ?? {}
  const meta = isJsonObject(_meta) ? _meta : {}
  const version = meta[VERSION_KEY]
  const header = headers['mcp-protocol-version']
  const unknown = [version, header].find((named) => named !== undefined && !isKnown(named))
  if (unknown !== undefined) return unsupported(unknown)
  if (version !== STATELESS_REVISION && (header !== STATELESS_REVISION || message.method === 'initialize'))
    return 'handshake'
  // The protocol does not define which headers a notification needs.
  return message.id === undefined ? 'stateless' : (headerFault(message, meta, headers) ?? 'stateless')
}

const isKnown = (version: unknown) => PROTOCOL_REVISIONS.some((known) => known === version)

const unsupported = (requested: Json): JsonRpcError => ({
  code: -32022,
  message: `unsupported protocol version; this service supports ${PROTOCOL_REVISIONS.join(', ')}`,
  data: { supported: PROTOCOL_REVISIONS, requested: typeof requested === 'string' ? requested.slice(0, 100) : null },
})

/** Whether a client can ask its user by a form. An empty capability means forms, as in the revision of June 2025. */
export function offersForms(capabilities: Json | undefined): boolean {
  const elicitation = isJsonObject(capabilities) ? capabilities.elicitation : undefined
  if (!isJsonObject(elicitation)) return false
  return Object.keys(elicitation).length === 0 || isJsonObject(elicitation.form)
}

/** The capabilities that a request of the stateless revision names. */
export function statelessCapabilities({ _meta }: JsonObject): Json | undefined {
  return isJsonObject(_meta) ? _meta[CAPABILITIES_KEY] : undefined
}

/** Headers repeat fields of the body, so that proxies can route by them; the two must be equal. */
function headerFault({ method, params = {} }: RpcMessage, meta: JsonObject, headers: Headers): JsonRpcError | null {
  if (meta[VERSION_KEY] === undefined) return missingMeta(VERSION_KEY)
  if (!isJsonObject(meta[CAPABILITIES_KEY])) return missingMeta(CAPABILITIES_KEY)
  if (headers['mcp-protocol-version'] !== meta[VERSION_KEY]) return headerMismatch('MCP-Protocol-Version')
  if (headers['mcp-method'] !== method) return headerMismatch('Mcp-Method')
  if (method === 'tools/call' && decodeHeader(headers['mcp-name']) !== params.name) return headerMismatch('Mcp-Name')
  return null
}

const missingMeta = (key: string): JsonRpcError => ({ code: -32602, message: `params._meta must contain '${key}'` })
const headerMismatch = (header: string): JsonRpcError => ({
  code: -32020,
  message: `header mismatch: ${header} is missing, or differs from the body`,
})

/** Clients encode a value that is not valid in a header as base64. */
function decodeHeader(value: string | string[] | undefined): string | undefined {
  if (typeof value !== 'string') return undefined
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1]
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8')
}
