import { z } from 'zod'
import { pageQueryById, pageSchema, toPage } from '../../platform/http/page.ts'
import {
  createdResponse,
  defineRead,
  defineWrite,
  findInScope,
  nameRoutes,
  noContentResponse,
} from '../../platform/http/route.ts'
import {
  ChannelChange,
  ChannelInput,
  changeChannel,
  createChannel,
  removeChannel,
  writeChannelSecret,
} from './channels.ts'
import { InboundMessage, receivePostedMessage } from './receive-message.ts'
import { findChannel, listChannels } from './rows.ts'
import {
  ChannelAdapterListView,
  ChannelView,
  InboundReceiptView,
  readAdapterViews,
  readChannelView,
  readChannelViews,
} from './view.ts'

const channelInScope = findInScope('channel', findChannel)

export const channelRoutes = nameRoutes({
  listChannels: defineRead('/v1/channels', {
    summary: 'List channels, newest first',
    description:
      'With the address to register with the provider (`hook_url`), and the time and error of the last message.',
    query: z.object(pageQueryById('chan')),
    longRead: true,
    responses: { 200: pageSchema(ChannelView) },
    async handle({ ctx, scope, query }) {
      const rows = await listChannels(ctx.db, scope.projectIds, query)
      const views = await readChannelViews(ctx, rows)
      return toPage(
        views,
        query.limit,
        (view) => view.id,
        (view) => view,
      )
    },
  }),

  listChannelAdapters: defineRead('/v1/channel-adapters', {
    summary: 'List the services that can carry the messages of a channel',
    description:
      'For forms: the adapters for `POST /v1/channels`, each with the JSON Schema of its `config`. The list is the same in every project.',
    responses: { 200: ChannelAdapterListView },
    handle: async () => ({ data: readAdapterViews() }),
  }),

  createChannel: defineWrite('POST', '/v1/channels', {
    summary: 'Create a channel',
    description: 'Binds an inbound address to a wedge and a task type.',
    role: 'admin',
    body: ChannelInput,
    responses: { 201: ChannelView },
    async handle({ ctx, scope, body }) {
      const channel = await createChannel(ctx, scope, body)
      return createdResponse(`/v1/channels/${channel.id}`, await readChannelView(ctx, channel))
    },
  }),

  getChannel: defineRead('/v1/channels/:id', {
    summary: 'Read a channel',
    description:
      'With the address to register with the provider (`hook_url`), the time of the last message, and why the last one could not be received. The secret is never returned.',
    responses: { 200: ChannelView },
    find: channelInScope,
    handle: ({ ctx, subject }) => readChannelView(ctx, subject),
  }),

  updateChannel: defineWrite('PUT', '/v1/channels/:id', {
    summary: 'Change a channel',
    description: 'Changes the fields that are given. Its threads and queued tasks stay as they are.',
    role: 'admin',
    body: ChannelChange,
    responses: { 200: ChannelView },
    find: channelInScope,
    handle: async ({ ctx, scope, subject, body }) =>
      readChannelView(ctx, await changeChannel(ctx, scope, subject, body)),
  }),

  setChannelSecret: defineWrite('POST', '/v1/channels/:id/secret', {
    summary: 'Set the secret of a channel',
    description: 'The secret with which the provider signs its calls. It is sealed; no endpoint returns it.',
    role: 'admin',
    body: z.object({ value: z.string().min(1).max(65_536) }),
    responses: { 200: ChannelView },
    find: channelInScope,
    handle: async ({ ctx, scope, subject, body }) =>
      readChannelView(ctx, await writeChannelSecret(ctx, scope, subject, body.value)),
  }),

  deleteChannel: defineWrite('DELETE', '/v1/channels/:id', {
    summary: 'Delete a channel',
    description: 'Its threads stay.',
    role: 'admin',
    responses: { 204: z.null() },
    find: channelInScope,
    async handle({ ctx, scope, subject }) {
      await removeChannel(ctx, scope, subject)
      return noContentResponse()
    },
  }),

  receiveMessage: defineWrite('POST', '/v1/channels/:id/inbound', {
    summary: 'Post an inbound message',
    description: 'Creates a task for it. Verify the sender first: this endpoint trusts what you post.',
    body: InboundMessage,
    responses: { 201: InboundReceiptView },
    find: channelInScope,
    async handle({ ctx, scope, subject, body }) {
      const { delivered, replayed } = await receivePostedMessage(ctx, scope, subject, body)
      const headers: Record<string, string> = replayed ? { 'idempotency-replayed': 'true' } : {}
      return createdResponse(`/v1/threads/${delivered.thread_id}`, delivered, headers)
    },
  }),
})
