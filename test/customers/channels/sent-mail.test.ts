import { expect, test } from 'vitest'
import { gatedWedgeFiles, openGatedApp } from '../../approvals/decisions/gated-app.ts'
import { anyStore } from '../../stores.ts'

const mail = { to: 'kim@example.com', subject: 'Your order', text: 'It left today.' }

const WEDGE = {
  ...gatedWedgeFiles('gate', { policy: { auto_approve: [{ action: 'mail:send' }] } }),
  'gate/rehearsals/act.json': [
    { call: { tool: 'act', input: { connection: 'mail', capability: 'mail:send', payload: mail } } },
    { output: { reply: 'I have written to you.' } },
  ],
}

anyStore((store) => {
  test('a mail that the task of a thread sends is stored in the thread, next to its reply', async () => {
    const app = await openGatedApp(store, WEDGE)
    try {
      const connections = (await app.call('GET', '/v1/connections')).body.data
      const connection_id = connections.find(({ name }: { name: string }) => name === 'mail').id
      const channel = { connection_id, address: 'help@example.com', wedge: 'gate', task_type: 'act' }
      const { id } = (await app.call('POST', '/v1/channels', channel)).body
      const message = { from: { handle: 'kim@example.com', name: 'Kim' }, body: 'Where is my order?', subject: 'Order' }
      const inbound = (await app.call('POST', `/v1/channels/${id}/inbound`, message)).body
      expect(await app.finished(inbound.task_id)).toMatchObject({ status: 'succeeded', error: null })
      const { messages } = (await app.call('GET', `/v1/threads/${inbound.thread_id}`)).body
      expect(messages.map(({ direction, body }: { direction: string; body: string }) => [direction, body])).toEqual([
        ['inbound', 'Where is my order?'],
        ['outbound', 'It left today.'],
        ['outbound', 'I have written to you.'],
      ])
      expect(app.outside.received.map(({ url, body }) => [url, JSON.parse(body)])).toEqual([['/mail', mail]])
    } finally {
      await app.stop()
      await app.outside.close()
    }
  })
})
