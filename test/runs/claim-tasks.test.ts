import { expect, onTestFinished, test } from 'vitest'
import { type App, startApp } from '../../src/app.ts'
import type { Tx } from '../../src/ctx/ctx.ts'
import type { RunStarter } from '../../src/lifecycle/claimed-task.ts'
import { claimTasks } from '../../src/runs/claim-tasks.ts'
import { createReplicaLease, renewOldLease } from '../../src/runs/replica-lease.ts'
import { lockTask } from '../../src/tasks/rows.ts'
import { testApp, type TestApp } from '../app.ts'
import { openTableLock } from '../faults/table-lock.ts'

const NO_IMMEDIATE_START: RunStarter = { canStart: () => false, writeStarted: async () => {} }
async function claimTaskIds({ ctx }: Pick<App, 'ctx'>, max = 8, lastProject = '', renewLease = async (_tx: Tx) => {}) {
  const claim = { lastProject, max, starter: NO_IMMEDIATE_START, renewLease, canTake: () => true }
  const { tasks } = await claimTasks(ctx, claim, new AbortController().signal)
  return tasks.map(({ task }) => task.id)
}
const QUEUE_ONLY = { SVC_MAX_CONCURRENT_TASKS: '0', SVC_OPEN_SIGNUP: '1' }

/** Creates a task that stays queued, in the project of this credential. */
async function createQueuedTask(app: TestApp, key: string): Promise<string> {
  return (await app.call('POST', '/v1/tasks', { wedge: 'echo', task_type: 'say' }, { key })).body.id
}

/** Signs up a founder and returns the session. Later founders have later projects in the order of claims. */
async function signUp(app: TestApp, name: string): Promise<string> {
  await app.clock.advance(1)
  const account = { email: `${name}@example.com`, password: 'correct horse battery' }
  return (await app.call('POST', '/v1/auth/signup', account, { key: null })).body.session_token
}

/** Locks a task as another replica does that claims it, until the returned function is called. */
async function lockAsReplica({ ctx }: TestApp, id: string): Promise<() => Promise<void>> {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let locked: Promise<void> = Promise.resolve()
  await new Promise<void>((resolve) => {
    locked = ctx.store.transact(async (db) => {
      await lockTask(db, { id })
      resolve()
      await released
    })
  })
  return () => {
    release()
    return locked
  }
}

test('while another replica claims the task of one project, tasks of other projects can be claimed', async () => {
  const app = await testApp({ store: 'postgres', env: QUEUE_ONLY })
  const tasks: string[] = []
  for (const name of ['first', 'second', 'third']) tasks.push(await createQueuedTask(app, await signUp(app, name)))
  const [lockedTask = '', ...free] = tasks
  const release = await lockAsReplica(app, lockedTask)
  expect((await claimTaskIds(app)).toSorted()).toEqual(free.toSorted())
  await release()
  expect(await claimTaskIds(app)).toEqual([lockedTask])
})

test('while another replica claims the task of one project, another project can fill all run slots', async () => {
  const app = await testApp({ store: 'postgres', env: QUEUE_ONLY })
  const lockedTask = await createQueuedTask(app, await signUp(app, 'first'))
  const key = await signUp(app, 'second')
  const tasks: string[] = []
  for (let n = 0; n < 6; n++) tasks.push(await createQueuedTask(app, key))
  const release = await lockAsReplica(app, lockedTask)
  expect((await claimTaskIds(app)).toSorted()).toEqual(tasks.toSorted())
  await release()
})

test('two replicas that claim at the same time get different tasks, including the only task of a short queue', async () => {
  const app = await testApp({ store: 'postgres', env: QUEUE_ONLY })
  const other = await startApp({ ...app.ctx.config, dataDir: `${app.ctx.config.dataDir}-other` }, app.ctx.world)
  onTestFinished(() => other.stop())
  const [long, short] = [await signUp(app, 'first'), await signUp(app, 'second')]
  for (let n = 0; n < 20; n++) await createQueuedTask(app, long)
  const onlyTask = await createQueuedTask(app, short)
  // The project with one task was served last, so that the other project comes first.
  const lastProject = (await app.call('GET', `/v1/tasks/${onlyTask}`, undefined, { key: short })).body.project_id
  const { hold, waitForBlocked, release } = await openTableLock(app.ctx.config.databaseUrl ?? '')
  await hold('tasks')
  const claiming = Promise.all([claimTaskIds(app, 4, lastProject), claimTaskIds(other, 4, lastProject)])
  // Both replicas have selected their tasks and wait for the lock.
  await waitForBlocked(2)
  await release()
  const claimed = (await claiming).flat()
  expect(new Set(claimed).size).toBe(8)
  expect(claimed).toContain(onlyTask)
})

test('a claim after an outage writes a heartbeat, because other replicas would end the claimed tasks', async () => {
  const app = await testApp({ store: 'postgres', env: QUEUE_ONLY })
  const lease = createReplicaLease(app.ctx)
  const replicas = app.ctx.db.selectFrom('replicas').select('seen_at').where('id', '=', app.ctx.replica)
  await app.ctx.store.transact((db) => db.deleteFrom('replicas').execute())
  await app.createTask({ input: 'hi' })
  await claimTaskIds(app, 8, '', (tx) => renewOldLease(tx, lease))
  expect(await replicas.execute()).toEqual([])
  lease.renewedAt = performance.now() - 6_000
  await app.createTask({ input: 'hi' })
  await claimTaskIds(app, 8, '', (tx) => renewOldLease(tx, lease))
  expect(await replicas.execute()).toHaveLength(1)
  expect(performance.now() - lease.renewedAt).toBeLessThan(6_000)
})
