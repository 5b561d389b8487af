import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { type App, startApp } from '../../../../src/server/app.ts'
import type { RunnerLimits } from '../../../../src/platform/config/role-settings.ts'
import type { Tx } from '../../../../src/platform/ctx/ctx.ts'
import type { RunStarter } from '../../../../src/approvals/lifecycle/claimed-task.ts'
import { createClaimQueries } from '../../../../src/execution/runs/claim/claim-queries.ts'
import { claimTasks } from '../../../../src/execution/runs/claim/claim-tasks.ts'
import { findLimitedProject } from '../../../../src/execution/runs/claim/limited-claim-rows.ts'
import { createReplicaLease, renewOldLease } from '../../../../src/execution/runs/replicas/replica-lease.ts'
import { lockTask } from '../../../../src/work/tasks/rows.ts'
import { testApp, type TestApp } from '../../../app.ts'
import { openTableLock } from '../../../faults/table-lock.ts'

const NO_IMMEDIATE_START: RunStarter = { canStart: () => false, writeStarted: async () => {} }
async function claimTaskIds(
  { ctx }: Pick<App, 'ctx'>,
  max = 8,
  lastProject = '',
  renewLease = async (_tx: Tx) => {},
  limits: Partial<RunnerLimits> = {},
) {
  const queries = createClaimQueries({ ...ctx.config, ...limits })
  const claim = { lastProject, max, queries, starter: NO_IMMEDIATE_START, renewLease, canTake: () => true }
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

const TWO_WEDGES = {
  'echo/wedge.json': { wedge: 'echo', task_types: { say: {} } },
  'desk/wedge.json': { wedge: 'desk', task_types: { say: {} } },
}
const NO_RENEWAL = async () => {}

/** Two projects, each with a queued task of `echo`, then one of `desk`, then one of `echo`. */
async function queueTwoWedges() {
  const app = await testApp({ store: 'postgres', env: QUEUE_ONLY, wedges: TWO_WEDGES })
  const projects: { id: string; echo: string[]; desk: string[] }[] = []
  for (const name of ['first', 'second']) {
    const key = await signUp(app, name)
    const create = async (wedge: string) => {
      await app.clock.advance(1)
      return (await app.call('POST', '/v1/tasks', { wedge, task_type: 'say' }, { key })).body
    }
    const tasks = [await create('echo'), await create('desk'), await create('echo')]
    const idsOf = (wedge: string) => tasks.filter((task) => task.wedge === wedge).map(({ id }) => id)
    projects.push({ id: tasks[0].project_id, echo: idsOf('echo'), desk: idsOf('desk') })
  }
  const [first, second] = projects
  if (!first || !second) throw new Error('no project')
  const claimWithin = (limits: Partial<RunnerLimits>, max = 8) => claimTaskIds(app, max, '', NO_RENEWAL, limits)
  return { app, first, second, claimWithin }
}

test('a replica that is limited to a wedge claims its tasks only, project after project', async () => {
  const { first, second, claimWithin } = await queueTwoWedges()
  expect(await claimWithin({ runnerWedges: ['absent'] })).toEqual([])
  expect(await claimWithin({ runnerWedges: ['desk', 'absent'] })).toEqual([...first.desk, ...second.desk])
  expect(await claimWithin({ runnerWedges: ['desk'] })).toEqual([])
  expect(await claimWithin({ runnerWedges: ['desk', 'echo'] }, 3)).toEqual([
    first.echo[0],
    second.echo[0],
    first.echo[1],
  ])
})

test('a replica that is limited to projects claims their tasks only', async () => {
  const { first, second, claimWithin } = await queueTwoWedges()
  const limits = { runnerProjects: [second.id, 'prj_absent'] }
  expect(await claimWithin({ ...limits, runnerWedges: ['desk'] })).toEqual(second.desk)
  expect(await claimWithin(limits)).toEqual(second.echo)
  expect(await claimWithin(limits)).toEqual([])
  expect((await claimWithin({})).toSorted()).toEqual([...first.echo, ...first.desk].toSorted())
})

test('a task that no running replica takes says so, and is not started by one that may not take it', async () => {
  const env = { SVC_RUNNER_WEDGES: 'desk' }
  const app = await testApp({ store: 'postgres', env, wedges: TWO_WEDGES })
  const { id } = await app.createTask()
  await app.clock.advance(3_000)
  const { body } = await app.call('GET', `/v1/tasks/${id}`)
  expect(body).toMatchObject({
    status: 'queued',
    queue_reason: expect.stringContaining("wedge 'echo'"),
    waiting_for: { kind: 'runner' },
  })
  const { data } = (await app.call('GET', '/v1/tasks')).body
  expect(data[0].queue_reason).toBe(body.queue_reason)
})

test('the search of a limited replica does not read the queued tasks of other wedges', async () => {
  const { app } = await queueTwoWedges()
  await app.ctx.store.transact(async (db) => {
    await sql`insert into tasks (id, project_id, wedge, task_type, status, input, actor, constraints, tools, cost_micros,
        last_event_id, epoch, created_at)
      select 'task_' || n, project_id, 'echo', task_type, status, input, actor, constraints, tools, 0, 0, 0, created_at
      from tasks cross join generate_series(1, 20000) n where id = (select max(id) from tasks)`.execute(db)
  })
  await sql`analyze tasks`.execute(app.ctx.db)
  const statement = findLimitedProject(app.ctx.db, { runnerProjects: null, runnerWedges: ['desk'] }, '', 'z')
  const plan = JSON.stringify((await statement.explain('json', sql`analyze`)) satisfies unknown)
  expect(plan).toContain('tasks_queued_wedge')
  expect(plan).not.toMatch(/"Rows Removed by Filter":[1-9]/)
})
