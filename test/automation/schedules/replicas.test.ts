import { expect, onTestFinished, test } from 'vitest'
import { type App, startApp } from '../../../src/server/app.ts'
import { fireDueSchedules } from '../../../src/automation/schedules/fire-schedules.ts'
import { type TestApp, testApp } from '../../app.ts'
import { openTableLock } from '../../faults/table-lock.ts'

const MANY = 40
const MINUTE = 60_000
const often = { wedge: 'echo', task_type: 'say', cadence: { kind: 'every', seconds: 60 } }

/** Two replicas without runners: their tasks stay in the queue. */
async function twoReplicas(): Promise<{ app: TestApp; replicas: Pick<App, 'ctx'>[] }> {
  const app = await testApp({ store: 'postgres', env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
  const other = await startApp({ ...app.ctx.config, dataDir: `${app.ctx.config.dataDir}-other` }, app.ctx.world)
  onTestFinished(() => other.stop())
  return { app, replicas: [app, other] }
}

test('schedules that are due at the same time create one task each, although two replicas see all of them', async () => {
  const { app, replicas } = await twoReplicas()
  const ids: string[] = []
  for (let n = 0; n < MANY; n++) ids.push((await app.call('POST', '/v1/schedules', { ...often, name: `${n}` })).body.id)
  for (const slot of [1, 2]) {
    app.clock.set(app.clock.now() + MINUTE)
    const { hold, waitForBlocked, release } = await openTableLock(app.ctx.config.databaseUrl ?? '')
    await hold('schedules')
    const firing = Promise.all(replicas.map(({ ctx }) => fireDueSchedules(ctx)))
    // Both replicas have listed the due schedules, and neither has claimed one yet.
    await waitForBlocked(2)
    await release()
    expect((await firing).reduce((sum, created) => sum + created)).toBe(MANY)
    const tasks = await app.ctx.db.selectFrom('tasks').select('schedule_id').execute()
    expect(tasks.map(({ schedule_id }) => schedule_id ?? '').toSorted()).toEqual(
      ids.toSorted().flatMap((id) => Array(slot).fill(id)),
    )
  }
})
