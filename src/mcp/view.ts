import { z } from 'zod'
import { jsonValue } from '../http/validate.ts'

/** A JSON-RPC response: either a result or an error. */
export const McpReplyView = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional(),
  result: jsonValue.optional(),
  error: z.object({ code: z.number().int(), message: z.string(), data: jsonValue.optional() }).optional(),
})

/** A GET of the MCP endpoint: this server offers no stream of its own messages. */
export const NoStreamView = z.object({ error: z.string() })
