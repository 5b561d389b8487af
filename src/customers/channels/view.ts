import { z } from 'zod'
import { serviceUrl } from '../../platform/config/service-url.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import type { ChannelRow, MessageRow } from '../../platform/store/tables.ts'
import { listConnectionsWithSecret } from '../../identity/vault/secrets.ts'
import { CHANNEL_ADAPTERS, findAdapter, toAdapterChannel } from './adapters/adapter-table.ts'

export const ChannelView = z
  .object({
    id: z.string(),
    project_id: z.string(),
    connection_id: z.string(),
    address: z.string(),
    wedge: z.string(),
    task_type: z.string(),
    adapter: z
      .string()
      .nullable()
      .meta({ description: 'The service that carries the messages; null: `/inbound` only.' }),
    config: jsonObject,
    settle_s: z.number().int(),
    has_secret: z.boolean(),
    hook_url: z
      .string()
      .nullable()
      .meta({ description: 'The address to register with the provider; null: it has none.' }),
    last_received_at: z.string().nullable(),
    last_error: z.string().nullable().meta({ description: 'Why the last message could not be received.' }),
    last_error_at: z.string().nullable(),
    created_at: z.string(),
  })
  .meta({ id: 'Channel' })

const ChannelAdapterView = z
  .object({
    adapter: z.string(),
    /** The JSON Schema of the field `config` of a channel. */
    config_schema: jsonObject,
    secret: z.string().nullable().meta({ description: 'What the secret of a channel is; null: it has none.' }),
    has_hook: z.boolean().meta({ description: 'The provider calls the `hook_url` of a channel.' }),
    connection: z
      .object({ kind: z.string(), provider: z.string().nullable() })
      .nullable()
      .meta({ description: 'What the connection of a channel must be; null: any connection will do.' }),
    can_reply: z.boolean().meta({ description: 'Answers are sent through the connection of the channel.' }),
  })
  .meta({ id: 'ChannelAdapter' })

export const ChannelAdapterListView = z.object({ data: z.array(ChannelAdapterView) })

/** The adapters in the order of their table. */
export const readAdapterViews = () =>
  Object.entries(CHANNEL_ADAPTERS).map(([adapter, { config, secret, connection, hook, reply }]) => {
    const { $schema: _dialect, ...config_schema } = z.toJSONSchema(config, { io: 'input', unrepresentable: 'any' })
    return {
      adapter,
      config_schema,
      secret,
      has_hook: hook !== undefined,
      connection: connection ? { kind: connection.kind, provider: connection.provider ?? null } : null,
      can_reply: reply !== undefined,
    }
  })

export const InboundReceiptView = z.object({
  task_id: z
    .string()
    .nullable()
    .meta({ description: 'Null if no task starts, because a person has the conversation.' }),
  thread_id: z.string(),
  client_id: z.string(),
})

export const HookResultView = InboundReceiptView.partial().extend({ ok: z.literal(true) })

export const MessageSenderView = z
  .object({ handle: z.string().nullable(), name: z.string().nullable() })
  .meta({ id: 'MessageSender' })

/** Channels with the field that needs the vault. No secret is opened. */
export async function readChannelViews(ctx: Ctx, rows: readonly ChannelRow[]) {
  const withSecret = await listConnectionsWithSecret(
    ctx,
    rows.map((row) => ({ ...row, secret_ref: null })),
  )
  return rows.map((row) => toChannelView(ctx, row, withSecret.has(row.id)))
}

export async function readChannelView(ctx: Ctx, row: ChannelRow) {
  const [view] = await readChannelViews(ctx, [row])
  return view
}

function toChannelView({ config }: Ctx, row: ChannelRow, has_secret: boolean) {
  const { id, project_id, connection_id, address, wedge, task_type, created_at } = row
  const { adapter, settle_s, last_received_at, last_error, last_error_at } = row
  return {
    id,
    project_id,
    connection_id,
    address,
    wedge,
    task_type,
    adapter,
    config: toAdapterChannel(row).config,
    settle_s,
    has_secret,
    hook_url: findAdapter(adapter)?.hook ? serviceUrl(config, `/v1/hooks/${id}`) : null,
    last_received_at,
    last_error,
    last_error_at,
    created_at,
  }
}

type SentBy = Pick<MessageRow, 'direction' | 'from_handle' | 'from_name'>

export function toMessageSenderView({ direction, from_handle, from_name }: SentBy) {
  return direction === 'inbound' ? { handle: from_handle, name: from_name } : null
}
