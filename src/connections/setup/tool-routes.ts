import { z } from 'zod'
import { badRequest, notFound, Problem } from '../../platform/base/problem.ts'
import type { Scope } from '../../platform/ctx/scope.ts'
import { SecretUnavailable } from '../../platform/ctx/vault.ts'
import { EgressError } from '../../platform/egress/http-client.ts'
import { defineRead, defineWrite, type FindInput, nameRoutes } from '../../platform/http/route.ts'
import { openSecret } from '../../identity/vault/secrets.ts'
import { requireConnectionInScope } from './connections.ts'
import { findExecutor } from '../executors/executor-table.ts'
import { recordConnectionHealth } from '../connection/health.ts'
import type { Connection } from '../connection/rows.ts'
import { refreshTools } from '../mcp/refresh-tools.ts'
import { classifyTool } from '../mcp/sync-tools.ts'
import { findToolRow, listToolRows } from '../mcp/tool-rows.ts'
import {
  ConnectionToolListView,
  ConnectionToolView,
  RefreshedToolsView,
  TOOL_CLASSES,
  toOperationView,
  toToolView,
} from '../mcp/tool-view.ts'

export const connectionToolRoutes = nameRoutes({
  listConnectionTools: defineRead('/v1/connections/:id/tools', {
    summary: 'List the tools of a connection',
    description: 'The tools of an MCP server as they were last listed, or the operations of a custom connection.',
    responses: { 200: ConnectionToolListView },
    find: requireConnectionInScope,
    async handle({ ctx, subject }) {
      if (subject.kind === 'mcp') return { data: (await listToolRows(ctx.db, subject.id)).map(toToolView) }
      const tools = await findExecutor(subject.kind)?.listTools?.(ctx, subject)
      return { data: (tools ?? []).map(toOperationView) }
    },
  }),

  updateConnectionTool: defineWrite('PUT', '/v1/connections/:id/tools/:name', {
    summary: 'Set the class of a tool and confirm it',
    description: '`read`: without approval; `ask`: every call needs an approval; `off`: the tool cannot be called.',
    role: 'admin',
    body: z.object({
      class: z.enum(TOOL_CLASSES),
      hash: z.string().max(64).optional().meta({ description: 'The version that you saw; another one is a 409.' }),
    }),
    responses: { 200: ConnectionToolView },
    find: requireToolInScope,
    handle: async ({ ctx, scope, subject: { connection, tool }, body }) =>
      toToolView(await classifyTool(ctx, scope, connection, { name: tool.name, ...body })),
  }),

  refreshConnectionTools: defineWrite('POST', '/v1/connections/:id/tools/refresh', {
    summary: 'List the tools of the MCP server now',
    description: 'New and changed tools are `off` until an admin sets their class.',
    role: 'admin',
    responses: { 200: RefreshedToolsView },
    find: requireConnectionInScope,
    async handle({ ctx, scope, subject }) {
      requireMcp(subject)
      try {
        const { tools, skipped } = await refreshTools(ctx, subject, await openSecret(ctx, subject), scope.actor)
        await recordConnectionHealth(ctx, subject, null)
        return { data: tools.map(toToolView), skipped }
      } catch (error) {
        if (error instanceof SecretUnavailable) throw badRequest(error.message)
        if (!(error instanceof EgressError)) throw error
        await recordConnectionHealth(ctx, subject, error.message)
        throw new Problem(502, `the tools cannot be listed: ${error.message}`)
      }
    },
  }),
})

async function requireToolInScope(input: FindInput<Scope>) {
  const connection = await requireConnectionInScope(input)
  const tool = await findToolRow(input.ctx.db, connection.id, input.params.name ?? '')
  if (!tool) throw notFound('tool')
  return { connection, tool }
}

function requireMcp({ kind }: Connection): void {
  if (kind !== 'mcp') throw badRequest("only connections of kind 'mcp' have tools that an admin confirms")
}
