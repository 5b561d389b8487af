import { expect, test } from 'vitest'
import { type Ctx, inTx, type Tx } from '../../../src/platform/ctx/ctx.ts'
import { StoreUnavailable } from '../../../src/platform/store/errors.ts'
import type { Store } from '../../../src/platform/store/store.ts'
import { planTask, queueTask } from '../../../src/work/tasks/create-task.ts'
import { findTaskUnscoped } from '../../../src/work/tasks/rows.ts'
import { eachStore, type TestApp, testApp } from '../../app.ts'
import { eventually } from '../../execution/runs/scripted-agent.ts'

const ACTOR = { kind: 'key', id: 'key_test' } as const
const ECHO = { wedge: 'echo', task_type: 'say', input: 'hi' }
/** Two slots: the first task leaves one free, so the runner sees that the queue is empty. */
const TWO = { SVC_MAX_CONCURRENT_TASKS: '2', SVC_TASK_RATE_PER_MIN: '10000' }

/** A service whose project has a ready cell and an empty queue. */
async function warmApp(store: 'sqlite' | 'postgres'): Promise<TestApp> {
  const app = await testApp({ store, env: TWO })
  await app.finished((await app.createTask()).id)
  return app
}

/** What the transaction does after it has queued the task. */
type AfterQueue = (tx: Tx, id: string) => void | Promise<void>

/** Queues a task with the given context and returns its id. */
async function queue(app: TestApp, ctx: Ctx, then: AfterQueue = () => {}): Promise<string> {
  const projectId = (await app.call('GET', '/v1/projects')).body.data[0].id
  const plan = await planTask(ctx, { projectId }, ECHO)
  const queued = inTx(ctx, async (tx) => {
    await queueTask(tx, plan, ACTOR)
    await then(tx, plan.id)
  })
  await queued.catch(() => {})
  return plan.id
}

/** Queues a task for each project in one transaction and returns their ids. */
async function queueFor(ctx: Ctx, projects: string[]): Promise<string[]> {
  const plans = await Promise.all(projects.map((projectId) => planTask(ctx, { projectId }, ECHO)))
  await inTx(ctx, async (tx) => {
    for (const plan of plans) await queueTask(tx, plan, ACTOR)
  })
  return plans.map(({ id }) => id)
}

/** The projects of the runs that start from now on, in order. */
function recordRunProjects({ liveRuns: live }: Ctx): string[] {
  const turns: string[] = []
  const add = live.add.bind(live)
  live.add = (run) => {
    turns.push(run.projectId)
    add(run)
  }
  return turns
}

/** For each task that is queued from now on: whether it starts at once. */
function recordImmediateStarts({ taskStarter: starter }: Ctx): boolean[] {
  const starts: boolean[] = []
  const { tryStart } = starter
  starter.tryStart = (tx, task) => {
    const started = tryStart(tx, task)
    starts.push(started !== null)
    return started
  }
  return starts
}

/** The context with a store that reports an unavailable database at the commit. */
function withFailingCommit(
  ctx: Ctx,
  transact: (store: Store, work: Parameters<Store['transact']>[0]) => Promise<unknown>,
): Ctx {
  const unavailable: Store['transact'] = async (work) => {
    await transact(ctx.store, work).catch(() => {})
    throw new StoreUnavailable(new Error('the connection broke'))
  }
  return { ...ctx, store: { ...ctx.store, transact: unavailable } }
}

const rollBack = () => {
  throw new Error('rolled back by the test')
}

eachStore((store) => {
  test('a task with a ready cell starts in the transaction that creates it, and the response says queued', async () => {
    const app = await warmApp(store)
    const seen: (string | undefined)[] = []
    await queue(app, app.ctx, async ({ db }, queued) => {
      seen.push((await findTaskUnscoped(db, queued))?.status)
    })
    expect(seen).toEqual(['running'])
    const created = await app.createTask({ input: 'hello' })
    expect(created['status']).toBe('queued')
    expect(await app.finished(created.id)).toMatchObject({ status: 'succeeded', output: { said: 'hello' } })
    const [first] = await app.events(created.id)
    expect(first).toMatchObject({ id: '1', event: 'task.created' })
  })

  test('a rolled back creation releases its slot', async () => {
    const app = await warmApp(store)
    const rolledBack = [await queue(app, app.ctx, rollBack), await queue(app, app.ctx, rollBack)]
    for (const id of rolledBack) expect((await app.call('GET', `/v1/tasks/${id}`)).status).toBe(404)
    expect(await app.finished((await app.createTask()).id)).toMatchObject({ status: 'succeeded' })
  })

  test('a task whose commit succeeded although the connection broke is run', async () => {
    const app = await warmApp(store)
    const id = await queue(
      app,
      withFailingCommit(app.ctx, (own, work) => own.transact(work)),
    )
    expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: { said: 'hi' } })
  })

  test('a task whose commit failed with the connection releases its slot', async () => {
    const app = await warmApp(store)
    const failing = withFailingCommit(app.ctx, (own, work) =>
      own.transact((db, shared) => work(db, shared).then(rollBack)),
    )
    const rolledBack = [await queue(app, failing), await queue(app, failing)]
    const next = await app.createTask()
    await eventually(async () => {
      await app.clock.advance(1_000)
      return (await app.call('GET', `/v1/tasks/${next.id}`)).body.status === 'succeeded'
    })
    for (const id of rolledBack) expect((await app.call('GET', `/v1/tasks/${id}`)).status).toBe(404)
  })

  test('a project whose task started on creation gets its next turn after the other projects', async () => {
    const app = await warmApp(store)
    const [own] = await app.ctx.db.selectFrom('projects').selectAll().execute()
    if (!own) throw new Error('there is no project')
    const other = { ...own, id: 'prj_zzz', slug: 'other' }
    await app.ctx.store.transact((db) => db.insertInto('projects').values(other).execute())
    // The project has no cell yet, so its first task is claimed from the queue and uses its turn.
    const [first] = await queueFor(app.ctx, [other.id])
    await eventually(async () => (await findTaskUnscoped(app.ctx.db, first ?? ''))?.status === 'succeeded')
    const turns = recordRunProjects(app.ctx)
    // The first two tasks use the two slots.
    await queueFor(app.ctx, [own.id, own.id, own.id, own.id, other.id])
    await eventually(() => turns.length === 5)
    expect(turns.slice(0, 3)).toEqual([own.id, own.id, other.id])
  })

  test('after all slots were in use and no task waited, the next task starts on creation again', async () => {
    const app = await warmApp(store)
    const starts = recordImmediateStarts(app.ctx)
    const both = await Promise.all([app.createTask(), app.createTask()])
    for (const { id } of both) await app.finished(id)
    await app.finished((await app.createTask()).id)
    expect(starts).toEqual([true, true, true])
  })

  test('tasks wait in the queue while no slot is free, and all of them run', async () => {
    const app = await warmApp(store)
    const all = await Promise.all(Array.from({ length: 12 }, (_, n) => app.createTask({ input: n })))
    for (const [n, { id }] of all.entries()) {
      expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: { said: n } })
    }
  })
})
