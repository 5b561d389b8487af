import { expect, test } from 'vitest'
import { inTx } from '../../../../src/platform/ctx/ctx.ts'
import { toIsoTime } from '../../../../src/platform/ctx/world.ts'
import {
  endTasksOfDeadReplicas,
  endTasksOfEarlierProcess,
} from '../../../../src/execution/runs/replicas/dead-replicas.ts'
import { createReplicaLease, renewReplicaLease } from '../../../../src/execution/runs/replicas/replica-lease.ts'
import { updateHeartbeat } from '../../../../src/execution/runs/replicas/rows.ts'
import { HeartbeatMonitor } from '../../../../src/execution/runs/replicas/heartbeat-monitor.ts'
import { writeEvents } from '../../../../src/work/events/append-events.ts'
import type { Store } from '../../../../src/platform/store/store.ts'
import { eachStore, type TestApp, testApp } from '../../../app.ts'
import { eventually, loggedLines } from '../scripted-agent.ts'

const UNLIMITED = { max_tasks: 8, runner_projects: null, runner_wedges: null }

const NEVER = new AbortController().signal
const INTERRUPTED = { status: 'failed', error: { reason: 'interrupted' } }

/** Creates a task and stores it as one that this replica runs. */
async function createTaskHeldBy(app: TestApp, replica: string): Promise<string> {
  const { id } = await app.createTask()
  const started_at = toIsoTime(app.clock.now())
  const running = { status: 'running', replica, epoch: 1, started_at, last_event_id: 2 } as const
  await app.ctx.store.transact((db) => db.updateTable('tasks').set(running).where('id', '=', id).execute())
  return id
}

const getTask = async (app: TestApp, id: string) => (await app.call('GET', `/v1/tasks/${id}`)).body

/** Moments at which a task has a replica but no live run: before the run starts, and while its end is written. */
const PAUSE_POINTS: [string, (app: TestApp, waitHere: () => Promise<void>) => void][] = [
  [
    'begins',
    ({ ctx }, waitHere) => {
      const find = ctx.wedges.find.bind(ctx.wedges)
      let calls = 0
      ctx.wedges.find = async (slug) => {
        // The first call comes from the creation of the task.
        if (++calls === 2) await waitHere()
        return find(slug)
      }
    },
  ],
  [
    'ends',
    ({ ctx }, waitHere) => {
      const transactDurably = ctx.store.transactDurably.bind(ctx.store)
      ctx.store.transactDurably = async (work, signal, group) => {
        if (group?.startsWith('end:')) await waitHere()
        return transactDurably(work, signal, group)
      }
    },
  ],
]

eachStore((store) => {
  test('a lease renewal without a response is given up, and the next one follows immediately', async () => {
    const { ctx } = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
    let attempts = 0
    const silentOnceStore: Store = {
      ...ctx.store,
      transact: (work, group) => (attempts++ === 0 ? new Promise(() => {}) : ctx.store.transact(work, group)),
    }
    const lease = createReplicaLease(ctx)
    const { renewedAt: renewed } = lease
    await renewReplicaLease({ ...ctx, store: silentOnceStore }, lease, NEVER)
    expect(attempts).toBe(2)
    expect(lease.renewedAt).toBeGreaterThan(renewed)
  })

  test('after the clock was set back a heartbeat stores the new time, so that a dead replica is noticed soon', async () => {
    const { ctx } = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
    const beat = (seen_at: string) =>
      ctx.store.transact((db) =>
        updateHeartbeat(db, { id: 'rep_back', started_at: '2026-03-02T09:00:00.000Z', seen_at, ...UNLIMITED }),
      )
    await beat('2026-03-02T09:00:09.000Z')
    await beat('2026-03-02T08:00:10.000Z')
    const row = await ctx.db.selectFrom('replicas').select('seen_at').where('id', '=', 'rep_back').executeTakeFirst()
    expect(row?.seen_at).toBe('2026-03-02T08:00:10.000Z')
  })

  test('after a clock jump a replica with heartbeats keeps its runs, and one without loses them', async () => {
    const app = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
    const { ctx } = app
    const { body } = await app.call('POST', '/v1/tasks', { wedge: 'echo', task_type: 'say', input: { text: 'hi' } })
    const started_at = toIsoTime(app.clock.now())
    await ctx.store.transact(async (db) => {
      const running = { status: 'running' as const, replica: 'rep_other', started_at }
      await db.updateTable('tasks').set(running).where('id', '=', body.id).execute()
    })
    const statusNow = async () => (await app.call('GET', `/v1/tasks/${body.id}`)).body.status
    const monitor = new HeartbeatMonitor()
    // The other replica still writes heartbeats with the old time.
    const ctxAhead = {
      ...ctx,
      world: { ...ctx.world, clock: { ...ctx.world.clock, now: () => app.clock.now() + 3_600_000 } },
    }
    for (let second = 0; second < 8; second++) {
      const seen_at = toIsoTime(app.clock.now() + second * 1000)
      await ctx.store.transact((db) => updateHeartbeat(db, { id: 'rep_other', started_at, seen_at, ...UNLIMITED }))
      await endTasksOfDeadReplicas(ctxAhead, monitor)
    }
    expect(await statusNow()).toBe('running')
    for (let check = 0; check < 3; check++) await endTasksOfDeadReplicas(ctxAhead, monitor)
    expect(await statusNow()).toBe('failed')
  })

  test.each(PAUSE_POINTS)(
    'a task that its replica does not run is interrupted, but not a run that %s',
    async (_, pauseAt) => {
      const app = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '1' } })
      const paused: (() => void)[] = []
      pauseAt(app, () => new Promise((resolve) => void paused.push(resolve)))
      const live = await app.createTask({ input: 'hi' })
      await eventually(() => paused.length > 0)
      const orphaned = await createTaskHeldBy(app, app.ctx.replica)
      await eventually(async () => {
        await app.clock.advance(1_000)
        return (await getTask(app, orphaned)).status !== 'running'
      })
      expect(await getTask(app, orphaned)).toMatchObject(INTERRUPTED)
      expect(loggedLines(app, 'orphaned task ended')).toMatchObject([{ task: orphaned }])
      for (const resume of paused) resume()
      expect(await app.finished(live.id)).toMatchObject({ status: 'succeeded', output: { said: 'hi' } })
    },
  )
})

eachStore((store) => {
  test('a claimed task that its replica does not run and whose agent did nothing is started again', async () => {
    const app = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
    const created = await createTaskHeldBy(app, app.ctx.replica)
    const provisioned = await createTaskHeldBy(app, app.ctx.replica)
    const data = { wedge: 'echo', task_type: 'say', status: 'running', sandbox: 'process', model: 'rehearsal' } as const
    await inTx(app.ctx, async (tx) => {
      await tx.db.updateTable('tasks').set({ last_event_id: 1 }).where('id', '=', created).execute()
      await writeEvents(tx, created, 1, [{ type: 'task.created', data }])
      const claimed = { status: 'provisioning', last_event_id: 0, started_at: null }
      await tx.db.updateTable('tasks').set(claimed).where('id', '=', provisioned).execute()
    })
    for (const id of [created, provisioned]) {
      await eventually(async () => {
        await app.clock.advance(1_000)
        return (await getTask(app, id)).finished_at !== null
      })
      expect(await getTask(app, id)).toMatchObject({ status: 'succeeded' })
      const events = await app.events(id)
      expect(events.map(({ id: seq }) => Number(seq))).toEqual(events.map((_, n) => n + 1))
      expect(events.filter(({ event }) => event === 'task.created')).toHaveLength(1)
    }
  })
})

test('on SQLite a start ends the tasks of the previous process, also after the clock was set back', async () => {
  const app = await testApp({ store: 'sqlite', env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
  const orphaned = await createTaskHeldBy(app, 'rep_before')
  const ahead = toIsoTime(app.clock.now() + 3_600_000)
  await app.ctx.store.transact((db) =>
    updateHeartbeat(db, { id: 'rep_before', started_at: ahead, seen_at: ahead, ...UNLIMITED }),
  )
  await endTasksOfEarlierProcess(app.ctx)
  expect(await getTask(app, orphaned)).toMatchObject(INTERRUPTED)
})
