import { expect, test } from 'vitest'
import { anyStore } from '../../../app.ts'
import { respondJson } from '../../../fake-upstream.ts'
import { conversationCalls } from '../../../conversations/team/conversation-app.ts'
import { slackDelivery, smsDelivery } from './deliveries.ts'
import { type HookApp, openHookApp } from './hook-app.ts'

const pendingApproval = (app: HookApp, thread: string) =>
  conversationCalls(app, app.provider, app.channel).pendingApproval(thread)

anyStore((store) => {
  test('slack: a message with a file becomes a task, and the edited reply is sent once, in the thread', async () => {
    const app = await openHookApp(store, {
      adapter: 'slack',
      respond: (request, response) => {
        if (request.method === 'GET') response.end('bytes of the file')
        else respondJson(response, 200, { ok: true, channel: 'D1', ts: '1800.000100' })
      },
    })
    const { event, ...payload } = JSON.parse(slackDelivery.body(1, 'See this'))
    const files = [{ id: 'F1', name: 'a.txt', mimetype: 'text/plain', url_private: `${app.provider.url}/files/a.txt` }]
    const body = JSON.stringify({ ...payload, event: { ...event, subtype: 'file_share', files } })
    const { task_id, thread_id } = (await app.deliver(body, slackDelivery.headers(app, body))).body
    const approval = await pendingApproval(app, thread_id)
    const { messages } = (await app.call('GET', `/v1/threads/${thread_id}`)).body
    expect(messages[0]).toMatchObject({ body: 'See this', files: [{ name: 'a.txt', size: 17 }] })
    await app.call('POST', `/v1/approvals/${approval}/approve`, { edited: { text: 'Thank you.' } })
    expect(await app.finished(task_id)).toMatchObject({ status: 'succeeded' })
    const posts = app.provider.received.filter(({ method }) => method === 'POST')
    expect(posts.map((post) => [post.url, Object.fromEntries(new URLSearchParams(post.body))])).toEqual([
      ['/chat.postMessage', { channel: 'D1', thread_ts: '1701.000100', text: 'Thank you.' }],
    ])
  })

  test('slack: a file that cannot be fetched does not stop the message', async () => {
    const app = await openHookApp(store, { adapter: 'slack', respond: (_, response) => response.writeHead(403).end() })
    const { event, ...payload } = JSON.parse(slackDelivery.body(1, 'See this'))
    const files = [{ id: 'F1', name: 'a.txt', url_private: `${app.provider.url}/files/a.txt` }]
    const body = JSON.stringify({ ...payload, event: { ...event, subtype: 'file_share', files } })
    const { thread_id } = (await app.deliver(body, slackDelivery.headers(app, body))).body
    const [message] = (await app.call('GET', `/v1/threads/${thread_id}`)).body.messages
    expect(message.body).toContain('See this')
    expect(message.body).toContain('it could not be downloaded: the server answered 403')
  })

  test('twilio: a person answers in the thread, and the client gets an SMS from the number they wrote to', async () => {
    const app = await openHookApp(store, {
      adapter: 'twilio',
      connection: { account_sid: 'AC1' },
      respond: (_, response) => respondJson(response, 201, { sid: 'SM99', status: 'queued' }),
    })
    const body = smsDelivery.body(1, 'Hello')
    await app.deliver(body, smsDelivery.headers(app, body))
    const [{ id }] = (await app.call('GET', '/v1/threads')).body.data
    const answered = await app.call('POST', `/v1/threads/${id}/messages`, { body: 'We call you.' })
    expect(answered).toMatchObject({ status: 201, body: { delivery: 'sent', external_id: 'SM99' } })
    const [sent, ...others] = app.provider.received
    expect(others).toEqual([])
    expect(sent?.url).toBe('/2010-04-01/Accounts/AC1/Messages.json')
    expect(Object.fromEntries(new URLSearchParams(sent?.body))).toEqual({
      To: '+491',
      From: '+492',
      Body: 'We call you.',
    })
  })
})
