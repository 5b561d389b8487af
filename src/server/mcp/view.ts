import { z } from 'zod'
import { jsonValue } from '../../platform/http/validate.ts'

/** A JSON-RPC response: either a result or an error. */
export const McpReplyView = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional(),
  result: jsonValue.optional(),
  error: z.object({ code: z.number().int(), message: z.string(), data: jsonValue.optional() }).optional(),
})

/** An error of the protocol is a JSON-RPC response; an error before it, such as a missing project, has the usual form. */
export const McpErrorView = z.union([McpReplyView, z.object({ error: z.string() })])

/** A GET of the MCP endpoint: this server offers no stream of its own messages. */
export const NoStreamView = z.object({ error: z.string() })
