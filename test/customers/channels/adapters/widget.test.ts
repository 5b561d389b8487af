import { expect, test } from 'vitest'
import { anyStore, eachStore } from '../../../app.ts'
import { waitForEvent } from '../../../execution/runs/scripted-agent.ts'
import { sendInbound } from '../channel-app.ts'
import { type HookApp, openHookApp } from './hook-app.ts'

const ORIGIN = 'https://shop.example'
const VISITOR = 'visitor-key-0123456789-abcdefghijklmnop'
const FROM_SHOP = { origin: ORIGIN, 'content-type': 'application/json' }

const openWidgetApp = (store: Parameters<typeof openHookApp>[0]) =>
  openHookApp(store, { adapter: 'widget', config: { origins: [ORIGIN, 'https://www.shop.example'] } })

const read = (app: HookApp, visitor = VISITOR, more: object = {}, headers: Record<string, string> = FROM_SHOP) =>
  app.call('POST', `/v1/widgets/${app.channel}/messages`, { visitor, ...more }, { key: null, headers })

const clientOf = async (app: HookApp, id: string) => (await app.call('GET', `/v1/clients/${id}`)).body

anyStore((store) => {
  test('a test message through /inbound is answered with the action of the widget', async () => {
    const app = await openWidgetApp(store)
    const { task_id } = await sendInbound(app, app.channel, { from: { handle: 'test@example.com' }, body: 'Hello' })
    const approval = (await waitForEvent(app, task_id, 'approval.requested')).data.data
    expect(approval).toMatchObject({ action: 'widget:reply', preview: { text: 'You wrote: Hello' } })
  })

  test('a visitor writes and reads the answer, and nobody else does', async () => {
    const app = await openWidgetApp(store)
    const sent = await app.deliver({ visitor: VISITOR, body: 'Hello' }, FROM_SHOP)
    expect(sent.status).toBe(200)
    expect(sent.headers.get('access-control-allow-origin')).toBe('*')
    const approval = (await waitForEvent(app, sent.body.task_id, 'approval.requested')).data.data
    expect(approval).toMatchObject({ action: 'widget:reply', preview: { text: 'You wrote: Hello' } })
    const shown = (await app.call('GET', `/v1/approvals/${approval.approval_id}`)).body
    const text = 'Reply to a visitor in the chat on desk'
    expect(shown).toMatchObject({ text, connection: null, connection_id: null, schema: { required: ['text'] } })
    expect((await read(app)).body.messages).toMatchObject([{ n: 1, from: 'visitor', body: 'Hello' }])
    const decision = { edited: { text: 'You wrote to us: Hello' } }
    await app.call('POST', `/v1/approvals/${approval.approval_id}/approve`, decision)
    await app.finished(sent.body.task_id)
    const { body: conversation } = await read(app)
    expect(conversation).toMatchObject({
      thread_id: sent.body.thread_id,
      is_working: false,
      messages: [
        { n: 1, from: 'visitor', body: 'Hello' },
        { n: 2, from: 'team', body: 'You wrote to us: Hello' },
      ],
    })
    expect(app.provider.received).toEqual([])
    const [effect] = (await app.call('GET', `/v1/tasks/${sent.body.task_id}/actions`)).body.data
    const nothingSent = { connection: null, connection_id: null, status: null }
    expect(effect).toMatchObject({ action: 'widget:reply', outcome: 'ok', ...nothingSent })
    const { data: audited } = (await app.call('GET', '/v1/audit?action=action.executed')).body
    expect(audited).toMatchObject([{ data: { action: 'widget:reply', connection_id: null, status: null } }])
    expect((await read(app, VISITOR, { after: 1 })).body.messages).toMatchObject([{ n: 2 }])
    expect((await read(app, `${VISITOR}x`)).body).toEqual({
      thread_id: null,
      messages: [],
      read_count: 0,
      is_working: false,
    })
    expect((await read(app, 'short')).status).toBe(400)
    const { handles } = await clientOf(app, sent.body.client_id)
    expect(handles).toEqual([expect.stringMatching(/^visitor:[0-9a-f]{32}$/)])
  })

  test('the key of a visitor is stored nowhere, and one that is too short to read the answer cannot write', async () => {
    const app = await openWidgetApp(store)
    expect((await read(app, 'x'.repeat(19))).status).toBe(400)
    expect((await app.deliver({ visitor: 'x'.repeat(19), body: 'Hello' }, FROM_SHOP)).status).toBe(400)
    await app.deliver({ visitor: VISITOR, body: 'Hello', id: 'm1' }, FROM_SHOP)
    for (const table of ['messages', 'threads', 'clients', 'client_handles', 'tasks', 'audit_entries'] as const) {
      expect(JSON.stringify(await app.ctx.db.selectFrom(table).selectAll().execute())).not.toContain(VISITOR)
    }
    expect(app.logged.join()).not.toContain(VISITOR)
  })

  test('a page that is not allowed can neither write nor read', async () => {
    const app = await openWidgetApp(store)
    const message = { visitor: VISITOR, body: 'Hello' }
    for (const origin of ['https://evil.example', 'http://shop.example', `${ORIGIN}.evil.example`, 'null', '']) {
      expect((await app.deliver(message, { ...FROM_SHOP, origin })).status).toBe(403)
      expect((await read(app, VISITOR, {}, { ...FROM_SHOP, origin })).status).toBe(403)
    }
    expect((await app.deliver(message, {})).status).toBe(403)
    expect((await app.call('GET', '/v1/threads')).body.data).toEqual([])
  })

  test('a visitor who leaves an address is a client with a name and this address', async () => {
    const app = await openWidgetApp(store)
    const first = await app.deliver({ visitor: VISITOR, body: 'Hello' }, FROM_SHOP)
    const contact = { email: 'Ada@Example.com', name: 'Ada' }
    const second = await app.deliver({ visitor: VISITOR, body: 'Me again', ...contact }, FROM_SHOP)
    expect(second.body).toMatchObject({ client_id: first.body.client_id, thread_id: first.body.thread_id })
    const client = await clientOf(app, first.body.client_id)
    expect(client).toMatchObject({
      display_name: 'Ada',
      handles: ['Ada@Example.com', expect.stringMatching(/^visitor:/)],
    })
    expect((await app.deliver({ visitor: VISITOR, body: 'x', email: 'no address' }, FROM_SHOP)).status).toBe(400)
  })

  test('an address gives no access to the data of the client who has it', async () => {
    const app = await openWidgetApp(store)
    const mail = await openMailChannel(app)
    const owner = await sendInbound(mail, 'ada@example.com')
    const sent = await app.deliver({ visitor: VISITOR, body: 'Hello', email: 'ada@example.com' }, FROM_SHOP)
    expect(sent.body.client_id).not.toBe(owner.client_id)
    expect((await read(app)).body).toMatchObject({ thread_id: sent.body.thread_id })
    expect((await clientOf(app, owner.client_id)).handles).toEqual(['ada@example.com'])
  })

  test('the first message that really comes from an address is not of the visitor who typed it', async () => {
    const app = await openWidgetApp(store)
    const sent = await app.deliver({ visitor: VISITOR, body: 'Hello', email: 'ada@example.com' }, FROM_SHOP)
    const owner = await sendInbound(await openMailChannel(app), 'ada@example.com')
    expect(owner.client_id).not.toBe(sent.body.client_id)
    expect((await clientOf(app, owner.client_id)).handles).toEqual(['ada@example.com'])
    const again = await app.deliver({ visitor: VISITOR, body: 'Hi', email: 'ada@example.com' }, FROM_SHOP)
    expect(again.body.client_id).toBe(sent.body.client_id)
    expect((await clientOf(app, sent.body.client_id)).handles).toEqual([expect.stringMatching(/^visitor:/)])
  })

  test('after 100 messages in 15 minutes a network has to wait', async () => {
    const app = await openWidgetApp(store)
    const deliver = (n: number) => app.deliver({ visitor: VISITOR, body: 'Hello', id: `m${n % 2}` }, FROM_SHOP)
    for (let n = 0; n < 100; n++) expect((await deliver(n)).status).toBe(200)
    const refused = await deliver(100)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    await app.clock.advance(15 * 60_000)
    expect((await deliver(101)).status).toBe(200)
  })

  test('the brand of the project is the brand of the widget', async () => {
    const app = await openWidgetApp(store)
    await app.call('PUT', '/v1/brand', { name: 'Acme', color: '#1f4fd1', welcome: 'Hallo', language: 'de' })
    const widget = await app.call('GET', `/v1/widgets/${app.channel}`, undefined, { key: null })
    const brand = { name: 'Acme', color: '#1f4fd1', logo_url: null, welcome: 'Hallo', language: 'de', notifies: false }
    expect(widget.body).toEqual(brand)
    expect((await app.call('GET', '/v1/widgets/chan_none', undefined, { key: null })).status).toBe(404)
  })

  test('a page may ask whether it may call, and the config of a widget needs origins', async () => {
    const app = await openWidgetApp(store)
    const preflight = await fetch(app.url + app.path, {
      method: 'OPTIONS',
      headers: {
        origin: ORIGIN,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toContain('content-type')
    for (const config of [{}, { origins: [] }, { origins: ['shop.example'] }, { origins: [`${ORIGIN}/page`] }]) {
      expect((await app.call('PUT', `/v1/channels/${app.channel}`, { config })).status).toBe(400)
    }
  })
})

eachStore((store) => {
  test('a message that the page sends again is received once', async () => {
    const app = await openWidgetApp(store)
    const message = { visitor: VISITOR, body: 'Hello', id: 'm1' }
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.deliver(message, FROM_SHOP)))
    expect(new Set(answers.map(({ body }) => body.task_id)).size).toBe(1)
    expect((await app.call('GET', '/v1/tasks')).body.data).toHaveLength(1)
  })
})

/** A channel without an adapter, whose messages the founder's own server posts. */
async function openMailChannel(app: HookApp) {
  const { connection_id } = (await app.call('GET', `/v1/channels/${app.channel}`)).body
  const binding = { connection_id, address: 'help@desk.example', wedge: 'desk', task_type: 'triage' }
  return { ...app, channel: (await app.call('POST', '/v1/channels', binding)).body.id as string }
}
