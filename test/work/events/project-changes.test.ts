import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { followProjectChanges } from '../../../src/work/events/project-changes.ts'
import { SseClient } from '../../../src/platform/http/sse.ts'
import { eachStore, testApp } from '../../app.ts'
import { readEventStream } from '../../http.ts'

test('a client that stops reading project changes is disconnected with an error, and the changes are dropped', async () => {
  const app = await testApp({ store: 'sqlite' })
  // Fills the socket buffers before the changes.
  const filling = 'x'.repeat(32 * 1024 * 1024)
  const change = (n: number) =>
    app.ctx.changeHints.publish({
      topic: 'project-changed',
      id: 'prj_1',
      change: { kind: 'task', id: `task_${n}`, status: 'succeeded' },
    })
  let hasEnded = false
  const server = createServer((_request, out) => {
    out.write(filling)
    void followProjectChanges(app.ctx, ['prj_1'], new SseClient(out)).then(() => (hasEnded = true))
    for (let n = 0; n < 4_999; n++) change(n)
    for (let n = 0; n < 100; n++) change(0)
    change(5_000)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  expect(hasEnded).toBe(false)
  change(5_001)
  const text = await response.text()
  expect(hasEnded).toBe(true)
  expect(text.length - filling.length).toBeLessThan(1_000)
  expect(text.endsWith('event: error\ndata: {"error":"stream overflow: reconnect"}\n\n')).toBe(true)
})

eachStore((store) => {
  test('the project stream reports changes of the project and none of other projects', async () => {
    const app = await testApp({ store })
    const ended = readEventStream(`${app.url}/v1/stream`, app.key, 0, ({ data }) => data.status === 'succeeded')
    // `ready` is the first frame, so the stream has subscribed before the task is created.
    await readEventStream(`${app.url}/v1/stream`, app.key, 0, ({ event }) => event === 'ready')
    const task = await app.createTask({ input: 'x' })
    const changes = (await ended).filter(({ event }) => event === 'changed').map(({ data }) => data)
    expect(changes.map(({ kind, id }) => `${kind} ${id}`)).toEqual(changes.map(() => `task ${task.id}`))
    expect(changes.at(-1)).toMatchObject({ kind: 'task', id: task.id, status: 'succeeded' })
  })
})
