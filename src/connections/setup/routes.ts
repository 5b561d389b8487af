import { z } from 'zod'
import type { JsonObject } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { filterParam, pageQueryById, pageSchema, toPage } from '../../platform/http/page.ts'
import { createdResponse, defineRead, defineWrite, nameRoutes, noContentResponse } from '../../platform/http/route.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import {
  changeConnectionSettings,
  createConnection,
  removeConnection,
  requireConnectionInScope,
} from './connections.ts'
import { CONNECTION_KINDS } from '../executors/executor-table.ts'
import { applyPreset } from '../presets/apply-preset.ts'
import type { PresetParamValues } from '../presets/preset.ts'
import { readPresets, requirePreset } from '../presets/read-presets.ts'
import { PresetListView, toPresetView } from '../presets/view.ts'
import { type Connection, listConnections } from '../connection/rows.ts'
import { testConnection } from './test-connection.ts'
import {
  ConnectionTestView,
  ConnectionView,
  ConnectionWithWarningsView,
  findConfigWarnings,
  toConnectionView,
  toConnectionViews,
} from './view.ts'
import { writeSecret } from './write-secret.ts'

const name = z.string().min(1).max(128)
const secretRef = z.string().max(256).nullable()
const config = jsonObject.meta({
  description:
    'The address and other settings of its kind. A custom connection may have `base_url` and `operations: [{name, description?, method, path, query?, headers?, body?, input_schema?, read?, idempotency_header?, success?, amount?}]`.',
})

export const connectionRoutes = nameRoutes({
  createConnection: defineWrite('POST', '/v1/connections', {
    summary: 'Create a connection',
    description:
      'Of a `kind`, or of a `preset`, which brings the kind and the config; `config` then replaces single keys.',
    role: 'admin',
    body: z.object({
      kind: z.enum(CONNECTION_KINDS).optional(),
      preset: z.string().max(64).optional(),
      params: z.record(z.string(), z.union([z.string().max(512), z.number()])).optional(),
      name,
      owner: z.object({ kind: z.enum(['founder', 'client']), id: z.string().optional() }).optional(),
      client_id: z.string().nullish(),
      config: config.optional(),
      secret_ref: secretRef.optional(),
    }),
    responses: { 201: ConnectionWithWarningsView },
    async handle({ ctx, scope, body }) {
      const connection = await createConnection(ctx, scope, { ...body, ...(await resolveKind(body)) })
      return createdResponse(`/v1/connections/${connection.id}`, await toViewWithWarnings(ctx, connection))
    },
  }),

  listConnections: defineRead('/v1/connections', {
    summary: 'List connections',
    description:
      'Those of the team and those of clients; `client_id` narrows the list to one client. Secrets are never returned: `has_secret` and `status` say whether one is there.',
    query: z.object({ ...pageQueryById('conn'), kind: z.enum(CONNECTION_KINDS).optional(), client_id: filterParam }),
    longRead: true,
    responses: { 200: pageSchema(ConnectionView) },
    async handle({ ctx, scope, query }) {
      const { kind, client_id: clientId, cursor, limit } = query
      const rows = await listConnections(ctx.db, { projectIds: scope.projectIds, kind, clientId, cursor, limit })
      const { data, next_cursor } = toPage(
        rows,
        limit,
        (row) => row.id,
        (row) => row,
      )
      return { data: await toConnectionViews(ctx, data), next_cursor }
    },
  }),

  getConnection: defineRead('/v1/connections/:id', {
    summary: 'Read a connection',
    description:
      'With its config, whether it can be used (`status`), and the time and error of its last use. The secret is never returned.',
    responses: { 200: ConnectionView },
    find: requireConnectionInScope,
    handle: ({ ctx, subject }) => toConnectionView(ctx, subject),
  }),

  updateConnection: defineWrite('PUT', '/v1/connections/:id', {
    summary: 'Update a connection',
    description:
      '`config` replaces the whole config, not single keys. The kind cannot be changed. A new OAuth app deletes the tokens of the old one, so that the account must be authorised again.',
    role: 'admin',
    body: z.object({
      kind: z.enum(CONNECTION_KINDS).optional(),
      name: name.optional(),
      config: config.optional(),
      secret_ref: secretRef.optional(),
    }),
    responses: { 200: ConnectionWithWarningsView },
    find: requireConnectionInScope,
    async handle({ ctx, scope, subject, body }) {
      if (body.kind && body.kind !== subject.kind) throw badRequest("field 'kind' cannot be changed")
      return toViewWithWarnings(ctx, await changeConnectionSettings(ctx, scope, subject, body))
    },
  }),

  deleteConnection: defineWrite('DELETE', '/v1/connections/:id', {
    summary: 'Delete a connection and its secret',
    description:
      'Agents that use it get an error from then on. 409 while a channel uses it: delete the channel first. This cannot be undone.',
    role: 'admin',
    responses: { 204: z.null() },
    find: requireConnectionInScope,
    async handle({ ctx, scope, subject }) {
      await removeConnection(ctx, scope, subject)
      return noContentResponse()
    },
  }),

  setConnectionSecret: defineWrite('POST', '/v1/connections/:id/secret', {
    summary: 'Set the secret of a connection',
    description: 'The secret is sealed; no endpoint returns it.',
    role: 'admin',
    body: z.object({ value: z.string().min(1).max(65_536) }),
    responses: { 200: ConnectionView },
    find: requireConnectionInScope,
    async handle({ ctx, scope, subject, body }) {
      await writeSecret(ctx, scope, subject, body.value)
      return toConnectionView(ctx, subject)
    },
  }),

  testConnection: defineWrite('POST', '/v1/connections/:id/test', {
    summary: 'Test a connection',
    description: 'Makes one harmless call through it.',
    role: 'admin',
    responses: { 200: ConnectionTestView },
    find: requireConnectionInScope,
    handle: ({ ctx, scope, subject }) => testConnection(ctx, scope, subject),
  }),

  listPresets: defineRead('/v1/presets', {
    summary: 'List presets',
    description: 'Services that can be connected with a name and a credential.',
    responses: { 200: PresetListView },
    async handle() {
      return { data: (await readPresets()).map(toPresetView) }
    },
  }),
})

interface KindOrPreset {
  kind?: string | undefined
  preset?: string | undefined
  params?: PresetParamValues | undefined
  config?: JsonObject | undefined
}

/** The kind and config of a new connection, from its preset if it has one. */
async function resolveKind({ kind, preset: name, params = {}, config = {} }: KindOrPreset) {
  if (name === undefined) {
    if (kind === undefined) throw badRequest(`field 'kind' is required: one of ${CONNECTION_KINDS.join(', ')}`)
    return { kind, config }
  }
  const preset = await requirePreset(name)
  if (kind !== undefined && kind !== preset.kind)
    throw badRequest(`field 'kind' must be ${preset.kind} for this preset`)
  return { kind: preset.kind, config: applyPreset(preset, { params, config }) }
}

const toViewWithWarnings = async (ctx: Ctx, connection: Connection) => ({
  ...(await toConnectionView(ctx, connection)),
  warnings: findConfigWarnings(ctx, connection),
})
