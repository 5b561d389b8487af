import { hash } from 'node:crypto'
import {
  canonicalJson,
  isJsonObject,
  isNestedDeeperThan,
  type Json,
  type JsonObject,
  ownField,
} from '../../platform/base/json.ts'
import { cleanJson, cleanText } from './clean-text.ts'

export const MAX_TOOLS = 200
const MAX_DESCRIPTION_CHARACTERS = 4_000
const MAX_SCHEMA_BYTES = 32 * 1024
const MAX_SCHEMA_DEPTH = 24

/** The names that the MCP specification recommends. A name is part of a capability, which people read and approve. */
const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/

/** A tool as the server offers it now. */
export interface McpToolOffer {
  name: string
  description: string
  inputSchema: JsonObject
  annotations: JsonObject
  hash: string
}

export interface OfferedTools {
  tools: McpToolOffer[]
  /** How many tools the service ignores: their name, size or number is not acceptable. */
  skipped: number
}

/** Reads the tools of a server that is not trusted. `address` is its URL, so another server needs a new confirmation. */
export function readOfferedTools(address: string, listed: readonly unknown[]): OfferedTools {
  const tools = new Map<string, McpToolOffer>()
  for (const raw of listed.slice(0, MAX_TOOLS)) {
    const tool = readTool(address, raw)
    // Policy rules ignore case, so two names that differ only in case would have one rule.
    const key = tool?.name.toLowerCase() ?? ''
    if (tool && !tools.has(key)) tools.set(key, tool)
  }
  return { tools: [...tools.values()], skipped: listed.length - tools.size }
}

function readTool(address: string, raw: unknown): McpToolOffer | null {
  if (!isJsonObject(raw)) return null
  const { name, description = '', inputSchema, annotations } = raw
  if (typeof name !== 'string' || !TOOL_NAME.test(name) || typeof description !== 'string') return null
  if (!isJsonObject(inputSchema) || !isSmall(inputSchema)) return null
  const shown = isJsonObject(annotations) && isSmall(annotations) ? annotations : {}
  return {
    name,
    description: cleanText(description).slice(0, MAX_DESCRIPTION_CHARACTERS),
    inputSchema: toJsonObject(cleanJson(inputSchema)),
    annotations: toJsonObject(cleanJson(shown)),
    // Of the original text: a change that cleaning hides is a change too.
    hash: hash('sha256', canonicalJson([address, name, description, inputSchema])),
  }
}

const isSmall = (value: JsonObject): boolean =>
  !isNestedDeeperThan(value, MAX_SCHEMA_DEPTH) && Buffer.byteLength(JSON.stringify(value)) <= MAX_SCHEMA_BYTES

const toJsonObject = (value: Json): JsonObject => (isJsonObject(value) ? value : {})

/** The class that the server's own hints suggest. Only an admin gives a tool its class. */
export const proposeClass = (annotations: JsonObject): 'read' | 'ask' =>
  ownField(annotations, 'readOnlyHint') === true ? 'read' : 'ask'
