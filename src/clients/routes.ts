import { z } from 'zod'
import { filter, page, pageById, pageOf } from '../http/page.ts'
import { Answer, created, inScope, noContent, read, write } from '../http/route.ts'
import { findChannel, listChannels } from './channel-rows.ts'
import { ChannelInput, createChannel, removeChannel } from './channels.ts'
import { findClient, listClients } from './client-rows.ts'
import { ClientInput, changeClient, createClient } from './clients.ts'
import { comparable } from './handles.ts'
import { deliver, InboundMessage } from './inbound.ts'
import { makePortalLink, revokePortal } from './portal-links.ts'
import {
  ChannelRecord,
  ClientRecord,
  MessageRecord,
  showChannel,
  showClient,
  showMessage,
  showThread,
  ThreadRecord,
  ThreadSummary,
} from './records.ts'
import { answerThread } from './reply.ts'
import { findThread, listThreads } from './thread-rows.ts'
import { messagesOf, setThreadStatus, THREAD_STATUSES } from './threads.ts'

const idOf = (row: { id: string }) => row.id

// Channels

const channelInScope = inScope('channel', findChannel)

export const getChannels = read('/v1/channels', {
  summary: 'List channels, newest first',
  query: z.object(pageById('chan')),
  answers: { 200: pageOf(ChannelRecord) },
  async handle({ ctx, scope, query }) {
    return page(await listChannels(ctx.db, scope.projectIds, query), query.limit, idOf, showChannel)
  },
})

export const postChannel = write('POST', '/v1/channels', {
  summary: 'Bind an inbound address to a wedge and a task type',
  role: 'admin',
  body: ChannelInput,
  answers: { 201: ChannelRecord },
  async handle({ ctx, scope, body }) {
    const channel = await createChannel(ctx, scope, body)
    return created(`/v1/channels/${channel.id}`, showChannel(channel))
  },
})

export const getChannel = read('/v1/channels/:id', {
  summary: 'Read a channel',
  answers: { 200: ChannelRecord },
  find: channelInScope,
  handle: async ({ subject }) => showChannel(subject),
})

export const deleteChannel = write('DELETE', '/v1/channels/:id', {
  summary: 'Remove a channel; its threads stay',
  role: 'admin',
  answers: { 204: z.null() },
  find: channelInScope,
  async handle({ ctx, scope, subject }) {
    await removeChannel(ctx, scope, subject)
    return noContent()
  },
})

export const postInbound = write('POST', '/v1/channels/:id/inbound', {
  summary: 'Hand over a message that came in; the caller has verified who sent it',
  body: InboundMessage,
  answers: { 201: z.object({ task_id: z.string(), thread_id: z.string(), client_id: z.string() }) },
  find: channelInScope,
  async handle({ ctx, scope, subject, body }) {
    const { delivered, replayed } = await deliver(ctx, scope, subject, body)
    const headers: Record<string, string> = replayed ? { 'idempotency-replayed': 'true' } : {}
    return created(`/v1/threads/${delivered.thread_id}`, delivered, headers)
  },
})

// Clients

const clientInScope = inScope('client', findClient)

export const getClients = read('/v1/clients', {
  summary: 'List clients, newest first',
  query: z.object({ handle: filter.transform((handle) => handle && comparable(handle)), ...pageById('cli') }),
  answers: { 200: pageOf(ClientRecord) },
  async handle({ ctx, scope, query }) {
    return page(await listClients(ctx.db, scope.projectIds, query), query.limit, idOf, showClient)
  },
})

export const postClient = write('POST', '/v1/clients', {
  summary: 'Create a client',
  body: ClientInput,
  answers: { 201: ClientRecord },
  async handle({ ctx, scope, body }) {
    const client = await createClient(ctx, scope, body)
    return created(`/v1/clients/${client.id}`, showClient(client))
  },
})

export const getClient = read('/v1/clients/:id', {
  summary: 'Read a client',
  answers: { 200: ClientRecord },
  find: clientInScope,
  handle: async ({ subject }) => showClient(subject),
})

export const putClient = write('PUT', '/v1/clients/:id', {
  summary: 'Change a client: the fields that are given are replaced',
  body: ClientInput,
  answers: { 200: ClientRecord },
  find: clientInScope,
  handle: async ({ ctx, scope, subject, body }) => showClient(await changeClient(ctx, scope, subject, body)),
})

export const postPortalLink = write('POST', '/v1/clients/:id/portal-link', {
  summary: 'Make a link to the portal: good once, for seven days; shown only in this answer',
  answers: { 201: z.object({ token: z.string(), expires_at: z.string(), url: z.string() }) },
  find: clientInScope,
  handle: async ({ ctx, scope, subject }) => new Answer(201, await makePortalLink(ctx, scope, subject)),
})

export const postPortalRevoke = write('POST', '/v1/clients/:id/portal-revoke', {
  summary: "End a client's access to the portal: links and sessions",
  answers: { 200: z.object({ ok: z.literal(true) }) },
  find: clientInScope,
  async handle({ ctx, scope, subject }) {
    await revokePortal(ctx, scope, subject)
    return { ok: true }
  },
})

// Threads

export const getThreads = read('/v1/threads', {
  summary: 'List threads, newest first',
  query: z.object({
    client_id: filter,
    channel_id: filter,
    status: z.enum(THREAD_STATUSES).optional(),
    ...pageById('thr'),
  }),
  answers: { 200: pageOf(ThreadSummary) },
  async handle({ ctx, scope, query }) {
    return page(await listThreads(ctx.db, scope.projectIds, query), query.limit, idOf, showThread)
  },
})

const threadInScope = inScope('thread', findThread)

export const getThread = read('/v1/threads/:id', {
  summary: 'Read a thread with its messages, oldest first; of a very long one the newest thousand',
  answers: { 200: ThreadRecord },
  find: threadInScope,
  async handle({ ctx, subject }) {
    return { ...showThread(subject), messages: (await messagesOf(ctx, subject)).map(showMessage) }
  },
})

export const putThread = write('PUT', '/v1/threads/:id', {
  summary: 'Close a thread, or open it again',
  body: z.object({ status: z.enum(THREAD_STATUSES) }),
  answers: { 200: ThreadSummary },
  find: threadInScope,
  handle: async ({ ctx, scope, subject, body }) => showThread(await setThreadStatus(ctx, scope, subject, body.status)),
})

export const postThreadMessage = write('POST', '/v1/threads/:id/messages', {
  summary: 'Answer the client in an open thread; they read it in the portal, and no mail is sent',
  body: z.object({ body: z.string().trim().min(1).max(20_000) }),
  answers: { 201: MessageRecord },
  find: threadInScope,
  async handle({ ctx, scope, subject, body }) {
    const message = await answerThread(ctx, scope, subject, body.body)
    return created(`/v1/threads/${subject.id}`, showMessage(message))
  },
})
