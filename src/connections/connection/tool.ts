import type { JsonObject } from '../../platform/base/json.ts'
import type { AmountMapping } from '../../platform/contract/amount.ts'
import type { Connection } from './rows.ts'

export type { AmountMapping }

/**
 * One thing that an agent can do through a connection: an operation of an HTTP API, a mail to send, or a tool of an MCP
 * server. Its capability is `<connection>:<name>`, and the model sees it as the tool `<connection>__<name>`.
 */
export interface ConnectionTool {
  name: string
  description: string
  /** The JSON Schema of the arguments. They are checked before a person is asked. */
  inputSchema: JsonObject
  /** `read`: without approval; `ask`: an action, which stops at the gate; `off`: cannot be called. */
  class: 'read' | 'ask' | 'off'
  /** Where the arguments state an amount of money. */
  amount: AmountMapping | null
}

/** What a capability names of a connection; null if it does not name the connection. A broker's tool is named alone. */
export function toolNameIn({ name, kind }: Pick<Connection, 'name' | 'kind'>, capability: string): string | null {
  if (kind === 'broker') return capability
  // Mail has one tool, which the plain name of the connection means too.
  if (kind === 'email' && capability.toLowerCase() === name.toLowerCase()) return 'send'
  const prefix = `${name}:`
  // Policy rules ignore case too.
  return capability.toLowerCase().startsWith(prefix.toLowerCase()) ? capability.slice(prefix.length) : null
}

export const capabilityOf = ({ name }: Pick<Connection, 'name'>, tool: string): string => `${name}:${tool}`
