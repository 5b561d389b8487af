import { z } from 'zod'
import { page, pageById, pageOf } from '../http/page.ts'
import { created, inScope, noContent, read, write, nameRoutes } from '../http/route.ts'
import { findChannel, listChannels } from './channel-rows.ts'
import { ChannelInput, createChannel, removeChannel } from './channels.ts'
import { deliver, InboundMessage } from './inbound.ts'
import { ChannelRecord, showChannel } from './records.ts'

const channelInScope = inScope('channel', findChannel)

export const channelRoutes = nameRoutes({
  listChannels: read('/v1/channels', {
    summary: 'List channels, newest first',
    query: z.object(pageById('chan')),
    answers: { 200: pageOf(ChannelRecord) },
    async handle({ ctx, scope, query }) {
      return page(await listChannels(ctx.db, scope.projectIds, query), query.limit, (row) => row.id, showChannel)
    },
  }),

  createChannel: write('POST', '/v1/channels', {
    summary: 'Bind an inbound address to a wedge and a task type',
    role: 'admin',
    body: ChannelInput,
    answers: { 201: ChannelRecord },
    async handle({ ctx, scope, body }) {
      const channel = await createChannel(ctx, scope, body)
      return created(`/v1/channels/${channel.id}`, showChannel(channel))
    },
  }),

  getChannel: read('/v1/channels/:id', {
    summary: 'Read a channel',
    answers: { 200: ChannelRecord },
    find: channelInScope,
    handle: async ({ subject }) => showChannel(subject),
  }),

  deleteChannel: write('DELETE', '/v1/channels/:id', {
    summary: 'Remove a channel; its threads stay',
    role: 'admin',
    answers: { 204: z.null() },
    find: channelInScope,
    async handle({ ctx, scope, subject }) {
      await removeChannel(ctx, scope, subject)
      return noContent()
    },
  }),

  receiveMessage: write('POST', '/v1/channels/:id/inbound', {
    summary: 'Hand over a message that came in; the caller has verified who sent it',
    body: InboundMessage,
    answers: { 201: z.object({ task_id: z.string(), thread_id: z.string(), client_id: z.string() }) },
    find: channelInScope,
    async handle({ ctx, scope, subject, body }) {
      const { delivered, replayed } = await deliver(ctx, scope, subject, body)
      const headers: Record<string, string> = replayed ? { 'idempotency-replayed': 'true' } : {}
      return created(`/v1/threads/${delivered.thread_id}`, delivered, headers)
    },
  }),
})
