import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'

/** Of 2026: every request says for itself what it speaks. */
const STATELESS_REVISION = '2026-07-28'
/** Those before begin with `initialize`; the newest first: it is what a client gets that asks for one we do not know. */
export const HANDSHAKE_REVISIONS = ['2025-11-25', '2025-06-18']
export const PROTOCOL_REVISIONS = [STATELESS_REVISION, ...HANDSHAKE_REVISIONS]

const META = 'io.modelcontextprotocol/'
const VERSION_KEY = `${META}protocolVersion`
const CAPABILITIES_KEY = `${META}clientCapabilities`
export const SERVER_INFO_KEY = `${META}serverInfo`

/** An error of JSON-RPC. */
export interface JsonRpcError {
  code: number
  message: string
  data?: Json
}

interface RpcMessage {
  id?: string | number | undefined
  method: string
  params?: JsonObject | undefined
}

type Headers = Record<string, string | string[] | undefined>

/** Which kind of revision a message speaks, or what is wrong with the way it says so: that is a 400. */
export function detectRevision(message: RpcMessage, headers: Headers): 'stateless' | 'shaking hands' | JsonRpcError {
  const { _meta: given } = message.params ?? {}
  const meta = isJsonObject(given) ? given : {}
  const told = meta[VERSION_KEY]
  const header = headers['mcp-protocol-version']
  const unknown = [told, header].find((version) => version !== undefined && !isKnown(version))
  if (unknown !== undefined) return unsupported(unknown)
  if (told !== STATELESS_REVISION && (header !== STATELESS_REVISION || message.method === 'initialize'))
    return 'shaking hands'
  // What a notification has to say beside its version is not laid down.
  return message.id === undefined ? 'stateless' : (headerFault(message, meta, headers) ?? 'stateless')
}

const isKnown = (version: unknown) => PROTOCOL_REVISIONS.some((known) => known === version)

const unsupported = (requested: Json): JsonRpcError => ({
  code: -32022,
  message: `unsupported protocol version; this service speaks ${PROTOCOL_REVISIONS.join(', ')}`,
  data: { supported: PROTOCOL_REVISIONS, requested: typeof requested === 'string' ? requested.slice(0, 100) : null },
})

/** Headers repeat what the body says, so that whoever stands between can route by them; so they must not differ. */
function headerFault({ method, params = {} }: RpcMessage, meta: JsonObject, headers: Headers): JsonRpcError | null {
  if (meta[VERSION_KEY] === undefined) return missingMeta(VERSION_KEY)
  if (!isJsonObject(meta[CAPABILITIES_KEY])) return missingMeta(CAPABILITIES_KEY)
  if (headers['mcp-protocol-version'] !== meta[VERSION_KEY]) return headerMismatch('MCP-Protocol-Version')
  if (headers['mcp-method'] !== method) return headerMismatch('Mcp-Method')
  if (method === 'tools/call' && decodeHeader(headers['mcp-name']) !== params.name) return headerMismatch('Mcp-Name')
  return null
}

const missingMeta = (key: string): JsonRpcError => ({ code: -32602, message: `params._meta must hold '${key}'` })
const headerMismatch = (header: string): JsonRpcError => ({
  code: -32020,
  message: `header mismatch: ${header} is missing, or differs from the body`,
})

/** What no header can hold comes as base64. */
function decodeHeader(value: string | string[] | undefined): string | undefined {
  if (typeof value !== 'string') return undefined
  const packed = /^=\?base64\?(.*)\?=$/.exec(value)?.[1]
  return packed === undefined ? value : Buffer.from(packed, 'base64').toString('utf8')
}
