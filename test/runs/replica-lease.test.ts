import { expect, test } from 'vitest'
import { toIsoTime } from '../../src/ctx/world.ts'
import { endTasksOfDeadReplicas, endTasksOfEarlierProcess } from '../../src/runs/dead-replicas.ts'
import { createReplicaLease, renewReplicaLease } from '../../src/runs/replica-lease.ts'
import { updateHeartbeat } from '../../src/runs/rows.ts'
import { HeartbeatMonitor } from '../../src/runs/heartbeat-monitor.ts'
import type { Store } from '../../src/store/store.ts'
import { eachStore, type TestApp, testApp } from '../app.ts'
import { eventually, loggedLines } from './scripted-agent.ts'

const NEVER = new AbortController().signal
const INTERRUPTED = { status: 'failed', error: { reason: 'interrupted' } }

/** A queued task, made one that this replica runs. */
async function heldBy(app: TestApp, replica: string): Promise<string> {
  const { id } = await app.createTask()
  const started_at = toIsoTime(app.clock.now())
  const running = { status: 'running', replica, epoch: 1, started_at, last_event_id: 1 } as const
  await app.ctx.store.transact((db) => db.updateTable('tasks').set(running).where('id', '=', id).execute())
  return id
}

const taskOf = async (app: TestApp, id: string) => (await app.call('GET', `/v1/tasks/${id}`)).body

/** What the service does for a run that is not live: it seeks what it needs, or writes its end. It waits at the door. */
const NOT_LIVE: [string, (app: TestApp, door: () => Promise<void>) => void][] = [
  [
    'begins',
    ({ ctx }, door) => {
      const find = ctx.wedges.find.bind(ctx.wedges)
      let sought = 0
      ctx.wedges.find = async (slug) => {
        // Sought first by the creation.
        if (++sought === 2) await door()
        return find(slug)
      }
    },
  ],
  [
    'ends',
    ({ ctx }, door) => {
      const outlast = ctx.store.transactDurably.bind(ctx.store)
      ctx.store.transactDurably = async (work, signal, lane) => {
        if (lane?.startsWith('end:')) await door()
        return outlast(work, signal, lane)
      }
    },
  ],
]

eachStore((store) => {
  test('a renewal that gets no answer is given up, and the next one follows at once', async () => {
    const { ctx } = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
    let asked = 0
    const swallowing: Store = {
      ...ctx.store,
      transact: (work, lane) => (asked++ === 0 ? new Promise(() => {}) : ctx.store.transact(work, lane)),
    }
    const lease = createReplicaLease(ctx)
    const { renewedAt: renewed } = lease
    await renewReplicaLease({ ...ctx, store: swallowing }, lease, NEVER)
    expect(asked).toBe(2)
    expect(lease.renewedAt).toBeGreaterThan(renewed)
  })

  test('after the clock was set back a replica is seen by the new time, so that its end is noticed soon', async () => {
    const { ctx } = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
    const told = (seen_at: string) =>
      ctx.store.transact((db) =>
        updateHeartbeat(db, { id: 'rep_back', started_at: '2026-03-02T09:00:00.000Z', seen_at }),
      )
    await told('2026-03-02T09:00:09.000Z')
    await told('2026-03-02T08:00:10.000Z')
    const row = await ctx.db.selectFrom('replicas').select('seen_at').where('id', '=', 'rep_back').executeTakeFirst()
    expect(row?.seen_at).toBe('2026-03-02T08:00:10.000Z')
  })

  test('after the clock leapt, no replica that still beats loses its runs, and one that stops does', async () => {
    const app = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
    const { ctx } = app
    const { body } = await app.call('POST', '/v1/tasks', { wedge: 'echo', task_type: 'say', input: { text: 'hi' } })
    const started_at = toIsoTime(app.clock.now())
    await ctx.store.transact(async (db) => {
      const running = { status: 'running' as const, replica: 'rep_other', started_at }
      await db.updateTable('tasks').set(running).where('id', '=', body.id).execute()
    })
    const statusNow = async () => (await app.call('GET', `/v1/tasks/${body.id}`)).body.status
    const watch = new HeartbeatMonitor()
    // The other replica has not heard of the new time yet.
    const late = {
      ...ctx,
      world: { ...ctx.world, clock: { ...ctx.world.clock, now: () => app.clock.now() + 3_600_000 } },
    }
    for (let second = 0; second < 8; second++) {
      const seen_at = toIsoTime(app.clock.now() + second * 1000)
      await ctx.store.transact((db) => updateHeartbeat(db, { id: 'rep_other', started_at, seen_at }))
      await endTasksOfDeadReplicas(late, watch)
    }
    expect(await statusNow()).toBe('running')
    for (let look = 0; look < 3; look++) await endTasksOfDeadReplicas(late, watch)
    expect(await statusNow()).toBe('failed')
  })

  test.each(NOT_LIVE)(
    'what a replica holds and nobody there carries out is interrupted, and no run that %s',
    async (_, hold) => {
      const app = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '1' } })
      const doors: (() => void)[] = []
      hold(app, () => new Promise((resolve) => void doors.push(resolve)))
      const carried = await app.createTask({ input: 'hi' })
      await eventually(() => doors.length > 0)
      const left = await heldBy(app, app.ctx.replica)
      await eventually(async () => {
        await app.clock.advance(1_000)
        return (await taskOf(app, left)).status !== 'running'
      })
      expect(await taskOf(app, left)).toMatchObject(INTERRUPTED)
      expect(loggedLines(app, 'orphaned task ended')).toMatchObject([{ task: left }])
      for (const open of doors) open()
      expect(await app.finished(carried.id)).toMatchObject({ status: 'succeeded', output: { said: 'hi' } })
    },
  )
})

test('on SQLite a start ends what its earlier self left, also after the clock was set back', async () => {
  const app = await testApp({ store: 'sqlite', env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
  const left = await heldBy(app, 'rep_before')
  const ahead = toIsoTime(app.clock.now() + 3_600_000)
  await app.ctx.store.transact((db) => updateHeartbeat(db, { id: 'rep_before', started_at: ahead, seen_at: ahead }))
  await endTasksOfEarlierProcess(app.ctx)
  expect(await taskOf(app, left)).toMatchObject(INTERRUPTED)
})
