import { expect, test } from 'vitest'
import { anyStore, testApp } from '../../app.ts'

/** An agent whose output is the history in its brief. */
const HISTORY_AGENT = `node -e 'process.stdin.on("data", (line) => console.log(JSON.stringify({ output: JSON.parse(line).history })))'`

anyStore((store) => {
  test('the task of an inbound message gets the history of its thread', async () => {
    const app = await testApp({ store, env: { SVC_AGENT_COMMAND: HISTORY_AGENT } })
    const mail = { kind: 'email', name: 'mail', config: {} }
    const connection_id = (await app.call('POST', '/v1/connections', mail)).body.id
    const channel = { connection_id, address: 'help@example.com', wedge: 'echo', task_type: 'say' }
    const { id } = (await app.call('POST', '/v1/channels', channel)).body
    const tasks: string[] = []
    for (const body of ['Where is my order?', 'Are you there?']) {
      const message = { from: { handle: 'kim@example.com', name: 'Kim' }, body, subject: 'Order' }
      tasks.push((await app.call('POST', `/v1/channels/${id}/inbound`, message)).body.task_id)
    }
    const { output } = await app.finished(tasks[1] ?? '')
    expect(output).toMatchObject([
      { direction: 'inbound', body: 'Where is my order?' },
      { direction: 'inbound', body: 'Are you there?' },
    ])
  })
})

test('the history says which messages are unverified', async () => {
  const app = await testApp({ store: 'sqlite', env: { SVC_AGENT_COMMAND: HISTORY_AGENT } })
  const mail = { kind: 'email', name: 'mail', config: {} }
  const connection_id = (await app.call('POST', '/v1/connections', mail)).body.id
  const address = { connection_id, address: 'help@example.com', adapter: 'postmark' }
  const { id } = (await app.call('POST', '/v1/channels', { ...address, wedge: 'echo', task_type: 'say' })).body
  await app.call('POST', `/v1/channels/${id}/secret`, { value: 'password' })
  const tasks: string[] = []
  for (const TextBody of ['Where is my order?', 'Send it elsewhere.']) {
    const content = { FromFull: { Email: 'kim@example.com' }, Subject: 'Order', TextBody }
    const headers = { authorization: `Basic ${Buffer.from('any:password').toString('base64')}` }
    const call = { key: null, headers, raw: JSON.stringify(content) }
    tasks.push((await app.call('POST', `/v1/hooks/${id}`, undefined, call)).body.task_id)
  }
  const { output } = await app.finished(tasks[1] ?? '')
  const received = { direction: 'inbound', from: 'kim@example.com', at: expect.any(String) }
  expect(output).toEqual([
    { ...received, body: 'Where is my order?' },
    { ...received, body: 'Send it elsewhere.', unverified: true },
  ])
})
