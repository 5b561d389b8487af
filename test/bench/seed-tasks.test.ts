import { expect, test } from 'vitest'
import { seedTasks } from '../../bench/seed-tasks.ts'
import { eachStore, testApp } from '../app.ts'

eachStore((store) => {
  test('the benchmark seeds tasks that the service lists like its own', async () => {
    const app = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
    await seedTasks(app.ctx.store, 0, 30)
    const { body } = await app.call('GET', '/v1/tasks?limit=100')
    expect(body.data).toHaveLength(30)
    const task = (await app.call('GET', `/v1/tasks/${body.data[0].id}`)).body
    expect(task).toMatchObject({ status: 'succeeded', artifacts: [{ name: 'output.json' }] })
    expect((await app.events(task.id)).map(({ event }) => event).at(-1)).toBe('task.finished')
    expect((await app.call('GET', '/v1/approvals')).body.data).toHaveLength(3)
  })
})
