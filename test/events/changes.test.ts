import { expect, test } from 'vitest'
import { eachStore, testApp } from '../app.ts'
import { stream } from '../http.ts'

eachStore((store) => {
  test('one stream tells a founder which tasks of the project changed, and nothing of other projects', async () => {
    const app = await testApp({ store })
    const ended = stream(`${app.url}/v1/stream`, app.key, 0, ({ data }) => data.status === 'succeeded')
    // Created only once the stream listens: `ready` is its first frame.
    await stream(`${app.url}/v1/stream`, app.key, 0, ({ event }) => event === 'ready')
    const task = await app.createTask({ input: 'x' })
    const changes = (await ended).filter(({ event }) => event === 'changed').map(({ data }) => data)
    expect(changes.map(({ kind, id }) => `${kind} ${id}`)).toEqual(changes.map(() => `task ${task.id}`))
    expect(changes.at(-1)).toMatchObject({ kind: 'task', id: task.id, status: 'succeeded' })
  })
})
