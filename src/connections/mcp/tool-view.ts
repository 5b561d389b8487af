import { z } from 'zod'
import { jsonObject } from '../../platform/http/validate.ts'
import type { ConnectionToolRow } from '../../platform/store/tables.ts'
import type { ConnectionTool } from '../connection/tool.ts'
import { proposeClass } from './offered-tools.ts'

export const TOOL_CLASSES = ['read', 'ask', 'off'] as const

/** `proposed_class` and `hash` are set for the tools of MCP servers only. */
export const ConnectionToolView = z
  .object({
    name: z.string(),
    description: z.string(),
    input_schema: jsonObject,
    annotations: jsonObject,
    class: z.enum(TOOL_CLASSES),
    state: z.enum(['confirmed', 'new', 'changed']),
    proposed_class: z.enum(['read', 'ask']).nullable(),
    hash: z.string().nullable(),
  })
  .meta({ id: 'ConnectionTool' })

export const ConnectionToolListView = z.object({ data: z.array(ConnectionToolView) })

export const RefreshedToolsView = ConnectionToolListView.extend({
  skipped: z
    .number()
    .meta({ description: 'How many tools are ignored: their name, size or number is not acceptable.' }),
})

export function toToolView(row: ConnectionToolRow) {
  const annotations = JSON.parse(row.annotations)
  return {
    name: row.name,
    description: row.description,
    input_schema: JSON.parse(row.input_schema),
    annotations,
    class: row.class,
    state: row.state,
    proposed_class: proposeClass(annotations),
    hash: row.hash,
  }
}

/** An operation of another kind of connection: its config says what it is, so it needs no confirmation. */
export const toOperationView = (tool: ConnectionTool) => ({
  name: tool.name,
  description: tool.description,
  input_schema: tool.inputSchema,
  annotations: {},
  class: tool.class,
  state: 'confirmed',
  proposed_class: null,
  hash: null,
})
