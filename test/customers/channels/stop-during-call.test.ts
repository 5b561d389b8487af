import { EventEmitter, once } from 'node:events'
import { expect, test } from 'vitest'
import { testApp } from '../../app.ts'
import { createAndGetId } from './channel-app.ts'

const SECRET = 'the-secret-of-the-channel'

test('a large call that waits for its parser while the service stops is received', async () => {
  const app = await testApp({
    store: 'sqlite',
    wedges: { 'desk/wedge.json': { wedge: 'desk', task_types: { triage: {} } } },
  })
  const provider = { kind: 'custom', name: 'bot', config: { base_url: 'https://provider.example' } }
  const connection_id = await createAndGetId(app, '/v1/connections', provider)
  const binding = { connection_id, address: 'bot', wedge: 'desk', task_type: 'triage', adapter: 'telegram', config: {} }
  const channel = await createAndGetId(app, '/v1/channels', binding)
  await app.call('POST', `/v1/channels/${channel}/secret`, { value: SECRET })

  const { calls } = app.ctx.parserThreads
  const parse = calls.run.bind(calls)
  const steps = new EventEmitter()
  const waiting = once(steps, 'waiting')
  calls.run = async (job, buffers) => {
    steps.emit('waiting')
    await once(steps, 'released')
    return parse(job, buffers)
  }
  const text = 'word '.repeat(2000)
  const message = { message_id: 1, chat: { id: 1, type: 'private' }, from: { id: 1, first_name: 'Kim' }, text }
  const response = fetch(`${app.url}/v1/hooks/${channel}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': SECRET },
    body: JSON.stringify({ update_id: 1, message }),
  })
  await waiting
  const stopped = app.stop()
  const isListening = () => fetch(`${app.url}/livez`).then(Boolean, () => false)
  await expect.poll(isListening).toBe(false)
  steps.emit('released')
  expect((await response).status).toBe(200)
  await stopped
})
