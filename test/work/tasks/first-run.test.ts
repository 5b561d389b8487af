import { expect, test } from 'vitest'
import { eachStore, testApp } from '../../app.ts'

eachStore((store) => {
  test('a task goes from queued to succeeded with the complete log', async () => {
    const app = await testApp({ store, env: { SVC_SANDBOX: 'bwrap' } })
    const task = await app.createTask({ input: 'hello' })
    expect(task).toMatchObject({ status: 'queued', wedge: 'echo', task_type: 'say', input: 'hello', output: null })
    const events = await app.events(task.id)
    expect(events.map((event) => event.event)).toEqual([
      'task.created',
      'step.started',
      'output.validated',
      'artifact.created',
      'task.finished',
    ])
    expect(await app.finished(task.id)).toMatchObject({ status: 'succeeded', output: { said: 'hello' } })
  })
})
