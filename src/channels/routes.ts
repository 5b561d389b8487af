import { z } from 'zod'
import { toPage, pageQueryById, pageSchema } from '../http/page.ts'
import { createdResponse, findInScope, noContentResponse, defineRead, defineWrite, nameRoutes } from '../http/route.ts'
import { findChannel, listChannels } from './rows.ts'
import { ChannelInput, createChannel, removeChannel } from './channels.ts'
import { receiveInbound, InboundMessage } from './inbound.ts'
import { ChannelView, toChannelView } from './view.ts'

const channelInScope = findInScope('channel', findChannel)

export const channelRoutes = nameRoutes({
  listChannels: defineRead('/v1/channels', {
    summary: 'List channels, newest first',
    query: z.object(pageQueryById('chan')),
    responses: { 200: pageSchema(ChannelView) },
    async handle({ ctx, scope, query }) {
      return toPage(await listChannels(ctx.db, scope.projectIds, query), query.limit, (row) => row.id, toChannelView)
    },
  }),

  createChannel: defineWrite('POST', '/v1/channels', {
    summary: 'Bind an inbound address to a wedge and a task type',
    role: 'admin',
    body: ChannelInput,
    responses: { 201: ChannelView },
    async handle({ ctx, scope, body }) {
      const channel = await createChannel(ctx, scope, body)
      return createdResponse(`/v1/channels/${channel.id}`, toChannelView(channel))
    },
  }),

  getChannel: defineRead('/v1/channels/:id', {
    summary: 'Read a channel',
    responses: { 200: ChannelView },
    find: channelInScope,
    handle: async ({ subject }) => toChannelView(subject),
  }),

  deleteChannel: defineWrite('DELETE', '/v1/channels/:id', {
    summary: 'Remove a channel; its threads stay',
    role: 'admin',
    responses: { 204: z.null() },
    find: channelInScope,
    async handle({ ctx, scope, subject }) {
      await removeChannel(ctx, scope, subject)
      return noContentResponse()
    },
  }),

  receiveMessage: defineWrite('POST', '/v1/channels/:id/inbound', {
    summary: 'Hand over a message that came in; the caller has verified who sent it',
    body: InboundMessage,
    responses: { 201: z.object({ task_id: z.string(), thread_id: z.string(), client_id: z.string() }) },
    find: channelInScope,
    async handle({ ctx, scope, subject, body }) {
      const { delivered, replayed } = await receiveInbound(ctx, scope, subject, body)
      const headers: Record<string, string> = replayed ? { 'idempotency-replayed': 'true' } : {}
      return createdResponse(`/v1/threads/${delivered.thread_id}`, delivered, headers)
    },
  }),
})
