import { z } from 'zod'
import { jsonObject } from '../../platform/http/validate.ts'

/** A JSON-RPC message to the server. */
export const McpMessage = z
  .object({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.number()]).optional().meta({ description: 'Absent in a notification.' }),
    method: z.string().optional().meta({ description: 'Absent in the answer to a form.' }),
    params: jsonObject.optional(),
    result: jsonObject.optional(),
    error: jsonObject.optional(),
  })
  .refine(({ method, result, error }) => method ?? result ?? error, 'body must have a method, a result or an error')
export type McpMessage = z.infer<typeof McpMessage>
