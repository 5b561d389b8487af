import type { JsonObject } from '../base/json.ts'
import type { AmountMapping } from '../contract/amount.ts'

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
