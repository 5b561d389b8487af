import { expect, test } from 'vitest'
import { storeFile } from '../../../src/work/files/store-file.ts'
import { anyStore, eachStore } from '../../app.ts'
import {
  auditLines,
  type ChannelApp,
  openChannelApp,
  openPortal,
  projectIdOf,
} from '../../customers/channels/channel-app.ts'

async function openWithPortalChannel(store: Parameters<typeof openChannelApp>[0]): Promise<ChannelApp> {
  const app = await openChannelApp(store)
  await app.call('PUT', '/v1/brand', { portal_channel_id: app.channel })
  return app
}

async function* bytesOf(text: string) {
  yield Buffer.from(text)
}

anyStore((store) => {
  test('a client begins several conversations, each with its own task', async () => {
    const app = await openWithPortalChannel(store)
    const ada = await openPortal(app, 'ada@example.com')
    expect((await ada.portal('GET', 'me')).body.can_start_conversation).toBe(true)
    const first = await ada.portal('POST', 'threads', { subject: 'Invoice', body: 'Where is it?' })
    const second = await ada.portal('POST', 'threads', { body: 'Another question\nwith details' })
    expect([first.status, second.status]).toEqual([201, 201])
    expect(first.body).toMatchObject({ subject: 'Invoice', status: 'open', unread: false })
    expect(second.body.subject).toBe('Another question')
    const task = (await app.call('GET', `/v1/tasks/${first.body.messages[0].task_id}`)).body
    expect(task).toMatchObject({ client_id: ada.client_id, thread_id: first.body.id, channel_id: app.channel })
    expect(task.input).toMatchObject({ body: 'Where is it?', subject: 'Invoice' })
    const { data } = (await ada.portal('GET', 'threads')).body
    const ids = new Set(data.map(({ id }: { id: string }) => id))
    expect(ids).toEqual(new Set([ada.thread_id, first.body.id, second.body.id]))
    const latest = data.find(({ id }: { id: string }) => id === first.body.id).last_message
    expect(latest).toMatchObject({ direction: 'inbound', body: 'Where is it?' })
    expect((await auditLines(app)).filter((line) => line === 'client message.posted')).toHaveLength(2)
  })

  test('without a channel in the brand a client cannot begin a conversation', async () => {
    const app = await openChannelApp(store)
    const ada = await openPortal(app, 'ada@example.com')
    expect((await ada.portal('GET', 'me')).body.can_start_conversation).toBe(false)
    const refused = await ada.portal('POST', 'threads', { body: 'Hello' })
    expect([refused.status, refused.body.error]).toEqual([409, 'new conversations are not possible here'])
    await app.call('PUT', '/v1/brand', { portal_channel_id: app.channel })
    await app.call('DELETE', `/v1/channels/${app.channel}`)
    expect((await ada.portal('POST', 'threads', { body: 'Hello' })).status).toBe(409)
  })

  test('a message carries files of the client, and no others', async () => {
    const app = await openWithPortalChannel(store)
    const ada = await openPortal(app, 'ada@example.com')
    const bob = await openPortal(app, 'bob@example.com')
    const projectId = await projectIdOf(app)
    const upload = (clientId: string | null) =>
      storeFile(
        app.ctx,
        { projectId, clientId, actor: { kind: 'client', id: ada.client_id } },
        { name: 'receipt.txt' },
        bytesOf('84 USD'),
      )
    const own = await upload(ada.client_id)
    const sent = await ada.portal('POST', `threads/${ada.thread_id}/messages`, { body: '', files: [own.id] })
    expect([sent.status, sent.body.files]).toEqual([201, [expect.objectContaining({ name: 'receipt.txt', size: 6 })]])
    const { messages } = (await ada.portal('GET', `threads/${ada.thread_id}`)).body
    expect(messages.at(-1).files).toEqual(sent.body.files)
    const begun = await ada.portal('POST', 'threads', { body: 'See file', files: [own.id] })
    expect(begun.body.messages[0].files).toEqual(sent.body.files)
    for (const foreign of [await upload(null), await upload(bob.client_id)]) {
      const refused = await ada.portal('POST', 'threads', { body: 'x', files: [foreign.id] })
      expect([refused.status, refused.body.error]).toEqual([400, `no such file: ${foreign.id}`])
    }
    expect((await ada.portal('POST', `threads/${ada.thread_id}/messages`, { body: ' ', files: [] })).status).toBe(400)
  })
})

eachStore((store) => {
  test('a message that is sent again with its idempotency key is one message with one task', async () => {
    const app = await openWithPortalChannel(store)
    const ada = await openPortal(app, 'ada@example.com')
    const bob = await openPortal(app, 'bob@example.com')
    const sendTo = (who: typeof ada, path: string, body = 'Hello') =>
      who.portal('POST', path, { body }, { 'idempotency-key': 'k1' })
    const path = `threads/${ada.thread_id}/messages`
    const sent = await Promise.all([sendTo(ada, path), sendTo(ada, path)])
    const begun = await Promise.all([sendTo(ada, 'threads'), sendTo(ada, 'threads')])
    for (const both of [sent, begun]) {
      expect(both.map(({ status }) => status)).toEqual([201, 201])
      expect(both[0]?.body).toEqual(both[1]?.body)
      const replayed = both.map(({ headers }) => headers.get('idempotency-replayed'))
      expect(new Set(replayed)).toEqual(new Set([null, 'true']))
    }
    const other = await sendTo(ada, path, 'Hello?')
    expect([other.status, other.body.error]).toEqual([409, 'idempotency key was used with another body'])
    await app.call('PUT', `/v1/threads/${ada.thread_id}`, { status: 'closed' })
    expect((await sendTo(ada, path)).body).toEqual(sent[0]?.body)
    expect((await sendTo(bob, 'threads')).body.id).not.toBe(begun[0]?.body.id)
    const messages = app.ctx.db.selectFrom('messages').select(['task_id']).where('body', '=', 'Hello')
    const tasks = (await messages.execute()).map(({ task_id }) => task_id)
    expect([tasks.length, new Set(tasks).size]).toEqual([3, 3])
  })
})
