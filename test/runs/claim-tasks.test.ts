import { expect, onTestFinished, test } from 'vitest'
import { type App, startApp } from '../../src/app.ts'
import type { RunStarter } from '../../src/lifecycle/claimed-task.ts'
import { claimTasks } from '../../src/runs/claim-tasks.ts'
import { lockTask } from '../../src/tasks/rows.ts'
import { testApp, type TestApp } from '../app.ts'
import { openTableLock } from '../faults/table-lock.ts'

const ONE_BY_ONE: RunStarter = { canStart: () => false, writeStarted: async () => {} }
const claimed = async ({ ctx }: Pick<App, 'ctx'>, most = 8, turn = '') =>
  (await claimTasks(ctx, turn, most, ONE_BY_ONE, new AbortController().signal)).tasks.map(({ task }) => task.id)
const QUEUE_ONLY = { SVC_MAX_CONCURRENT_TASKS: '0', SVC_OPEN_SIGNUP: '1' }

/** Queues a task of a founder's own project. */
async function queue(app: TestApp, key: string): Promise<string> {
  return (await app.call('POST', '/v1/tasks', { wedge: 'echo', task_type: 'say' }, { key })).body.id
}

/** The session of a founder who signs up, after those before: their projects come in this order. */
async function signUp(app: TestApp, name: string): Promise<string> {
  await app.clock.advance(1)
  const person = { email: `${name}@example.com`, password: 'correct horse battery' }
  return (await app.call('POST', '/v1/auth/signup', person, { key: null })).body.session_token
}

/** Another replica is just taking the task, until the returned function is called. */
async function taking({ ctx }: TestApp, id: string): Promise<() => Promise<void>> {
  let letGo = () => {}
  const waiting = new Promise<void>((resolve) => {
    letGo = resolve
  })
  let holding: Promise<void> = Promise.resolve()
  await new Promise<void>((resolve) => {
    holding = ctx.store.transact(async (db) => {
      await lockTask(db, { id })
      resolve()
      await waiting
    })
  })
  return () => {
    letGo()
    return holding
  }
}

test('a project whose queue another replica is just emptying hides no other project', async () => {
  const app = await testApp({ store: 'postgres', env: QUEUE_ONLY })
  const tasks: string[] = []
  for (const name of ['first', 'second', 'third']) tasks.push(await queue(app, await signUp(app, name)))
  const [held = '', ...free] = tasks
  const letGo = await taking(app, held)
  expect((await claimed(app)).toSorted()).toEqual(free.toSorted())
  await letGo()
  expect(await claimed(app)).toEqual([held])
})

test('nor does it leave places empty for which another project has work', async () => {
  const app = await testApp({ store: 'postgres', env: QUEUE_ONLY })
  const held = await queue(app, await signUp(app, 'first'))
  const key = await signUp(app, 'second')
  const tasks: string[] = []
  for (let n = 0; n < 6; n++) tasks.push(await queue(app, key))
  const letGo = await taking(app, held)
  expect((await claimed(app)).toSorted()).toEqual(tasks.toSorted())
  await letGo()
})

test('two replicas that claim at one moment take different tasks, and among them the one of a short queue', async () => {
  const app = await testApp({ store: 'postgres', env: QUEUE_ONLY })
  const other = await startApp({ ...app.ctx.config, dataDir: `${app.ctx.config.dataDir}-other` }, app.ctx.world)
  onTestFinished(() => other.stop())
  const [long, short] = [await signUp(app, 'first'), await signUp(app, 'second')]
  for (let n = 0; n < 20; n++) await queue(app, long)
  const only = await queue(app, short)
  // It was served last, so that the other comes first.
  const turn = (await app.call('GET', `/v1/tasks/${only}`, undefined, { key: short })).body.project_id
  const { hold, waitForBlocked, release } = await openTableLock(app.ctx.config.databaseUrl ?? '')
  await hold('tasks')
  const claiming = Promise.all([claimed(app, 4, turn), claimed(other, 4, turn)])
  // Both have chosen by now.
  await waitForBlocked(2)
  await release()
  const taken = (await claiming).flat()
  expect(new Set(taken).size).toBe(8)
  expect(taken).toContain(only)
})
