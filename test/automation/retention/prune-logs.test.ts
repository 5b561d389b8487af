import { describe, expect, test } from 'vitest'
import { deleteOldPolicyCounters, upsertPolicyUse } from '../../../src/approvals/policy/policy-counter-rows.ts'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { pruneOldLogs } from '../../../src/automation/retention/prune-logs.ts'
import { anyStore, eachStore, sharedApp, type TestApp, testApp } from '../../app.ts'
import { eventsUrl, numbersUpTo, readWholeStream } from '../../work/events/stream-reader.ts'
import type { ApiResponse } from '../../http.ts'
import {
  appendAsRun,
  cancelTask,
  DESK_WEDGES,
  expectRefusal,
  NO_RATE_LIMIT,
  progressEvents,
  readTask,
  SCRIPTED_AGENT,
  startScriptedTask,
} from '../../work/tasks/scripted-agent.ts'

/** The service keeps logs for 86.4 seconds. */
const SHORT_RETENTION = { SVC_RETENTION_DAYS: '0.001' }
const FILE = { name: 'note.txt', content_type: 'text/plain', content_base64: 'aGk=' }
const LINES = [{ event: 'progress', data: { text: 'a secret word' } }, { artifact: FILE }, { output: { a: 1 } }]

const createFinishedTask = async (app: TestApp, body: Record<string, unknown> = {}): Promise<ApiResponse['body']> => {
  const { id } = await app.createTask({ input: LINES, ...body })
  return app.finished(id)
}

const waitUntilPruned = async (app: TestApp, id: string) => {
  await app.clock.advance(90_000)
  const at = async () => {
    // The sweep runs every second.
    await app.clock.advance(1_000)
    return (await readTask(app, id)).log_pruned_at
  }
  await expect.poll(at).not.toBeNull()
}

const framesOf = async (app: TestApp, id: string, after = 0) =>
  (await readWholeStream(eventsUrl(app, id), { 'last-event-id': String(after) })).split('\n\n').slice(0, -1)

anyStore((store) => {
  const shared = sharedApp({
    store,
    wedges: DESK_WEDGES,
    env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT, ...SHORT_RETENTION },
  })
  describe('the log of a task that finished before the retention period', () => {
    test('the log is removed and the task is unchanged', async () => {
      const app = shared()
      const before = await createFinishedTask(app)
      expect(before.log_pruned_at).toBeNull()
      await waitUntilPruned(app, before.id)
      const { log_pruned_at, artifacts, ...rest } = await readTask(app, before.id)
      expect({ ...rest, log_pruned_at: null }).toEqual({ ...before, artifacts: undefined })
      expect(Date.parse(log_pruned_at)).toBeGreaterThan(Date.parse(before.finished_at) + 86_400)
      expect(artifacts.map(({ name }: { name: string }) => name)).toEqual(['output.json'])
      const stored = await app.ctx.db.selectFrom('events').select('data').where('task_id', '=', rest.id).execute()
      expect(JSON.stringify(stored)).not.toContain('a secret word')
    })

    test('a replay has a log.pruned frame and task.finished', async () => {
      const app = shared()
      const { id, last_event_id } = await createFinishedTask(app)
      const [lastFrame] = (await framesOf(app, id)).slice(-1)
      await waitUntilPruned(app, id)
      const gap = `event: log.pruned\ndata: {"task_id":"${id}","next_event_id":${last_event_id}}`
      expect(await framesOf(app, id)).toEqual([gap, lastFrame])
      expect(await framesOf(app, id, 1)).toEqual([gap, lastFrame])
    })

    test('a reader that has all removed events gets no log.pruned frame', async () => {
      const app = shared()
      const { id, last_event_id } = await createFinishedTask(app)
      const [lastFrame] = (await framesOf(app, id)).slice(-1)
      await waitUntilPruned(app, id)
      expect(await framesOf(app, id, last_event_id - 1)).toEqual([lastFrame])
      const { status } = await app.call('GET', `/v1/tasks/${id}/events?lastEventId=${last_event_id}`)
      expect(status).toBe(204)
    })

    test('feedback is still accepted and added to the log', async () => {
      const app = shared()
      const { id, last_event_id } = await createFinishedTask(app)
      await waitUntilPruned(app, id)
      expect((await app.call('POST', `/v1/tasks/${id}/feedback`, { rating: 5 })).status).toBe(201)
      const ids = (await app.events(id)).map((frame) => frame.id)
      expect(ids).toEqual(['', String(last_event_id), String(last_event_id + 1)])
    })

    test('the trace is empty and has log_pruned_at', async () => {
      const app = shared()
      const { id } = await createFinishedTask(app)
      const fullTrace = (await app.call('GET', `/v1/tasks/${id}/trace`)).body
      expect(fullTrace).toMatchObject({ status: 'succeeded', root: { name: 'echo/say' }, log_pruned_at: null })
      await waitUntilPruned(app, id)
      const { log_pruned_at } = await readTask(app, id)
      const trace = await app.call('GET', `/v1/tasks/${id}/trace`)
      expect(trace).toMatchObject({
        status: 200,
        body: { task_id: id, status: 'succeeded', root: null, log_pruned_at },
      })
    })

    test('the files of the task are removed, but not its output', async () => {
      const app = shared()
      const { id, artifacts } = await createFinishedTask(app)
      const byName = (name: string) =>
        (artifacts as { id: string; name: string }[]).find((artifact) => artifact.name === name)
      const [file, output] = [byName('note.txt'), byName('output.json')]
      expect((await app.call('GET', `/v1/artifacts/${file?.id}`)).body).toBe('hi')
      await waitUntilPruned(app, id)
      expectRefusal(await app.call('GET', `/v1/artifacts/${file?.id}`), 404, 'no such artifact')
      expect(await app.call('GET', `/v1/artifacts/${output?.id}`)).toMatchObject({ status: 200, body: { a: 1 } })
    })

    test('approvals, costs and reports are unchanged', async () => {
      const app = shared()
      const { id } = await createFinishedTask(app, { wedge: 'desk', task_type: 'idle' })
      const report = async () => {
        const { from: _from, to: _to, ...sums } = (await app.call('GET', '/v1/analytics?days=30')).body
        return sums
      }
      const before = await report()
      await waitUntilPruned(app, id)
      expect(await report()).toEqual(before)
    })

    test('the removal is in the audit log, and its chain stays valid', async () => {
      const app = shared()
      const { id, last_event_id } = await createFinishedTask(app)
      await waitUntilPruned(app, id)
      const entries = (await app.call('GET', '/v1/audit?action=log.pruned')).body.data
      const [entry] = entries.filter(({ data }: { data: { tasks?: string[] } }) => data.tasks?.includes(id))
      expect(entry).toMatchObject({ actor: { kind: 'system' }, data: { events: last_event_id - 1, files: 1 } })
      expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true, first_bad_seq: null })
    })
  })

  test('a log that is longer than a batch is removed in several batches', async () => {
    const app = await testApp({ store, env: { ...SCRIPTED_AGENT, ...SHORT_RETENTION } })
    const id = await startScriptedTask(app)
    for (let n = 0; n < 5; n++) await appendAsRun(app, id, progressEvents(1000))
    await cancelTask(app, id)
    const { last_event_id } = await app.finished(id)
    await waitUntilPruned(app, id)
    expect((await app.events(id)).map((frame) => frame.event)).toEqual(['log.pruned', 'task.finished'])
    const entries = (await app.call('GET', '/v1/audit?action=log.pruned')).body.data
    expect(entries.map(({ data }: { data: { events: number } }) => data.events)).toEqual([
      Number(last_event_id) - 4001,
      2000,
      2000,
    ])
  })

  test('with a retention of weeks a log goes on the next day, and that of an open task goes once the task has ended', async () => {
    const app = await testApp({ store, env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT } })
    const open = await startScriptedTask(app)
    await appendAsRun(app, open, progressEvents(3))
    const { id, last_event_id } = await createFinishedTask(app)
    const pruneLater = (days: number) => {
      const now = app.clock.now() + days * 24 * 60 * 60_000
      const clock = { now: () => now, after: () => () => {} }
      return pruneOldLogs({ ...app.ctx, world: { ...app.ctx.world, clock } }, 30)
    }
    await pruneLater(29)
    expect((await app.events(id)).map((frame) => Number(frame.id))).toEqual(numbersUpTo(last_event_id))
    await pruneLater(31)
    expect((await app.events(id)).map((frame) => frame.event)).toEqual(['log.pruned', 'task.finished'])
    await appendAsRun(app, open, progressEvents(1))
    await cancelTask(app, open)
    const ended: ApiResponse['body'] = await app.finished(open)
    expect((await app.events(open)).map((frame) => Number(frame.id))).toEqual(numbersUpTo(ended.last_event_id))
    await pruneLater(31)
    expect((await app.events(open)).map((frame) => frame.event)).toEqual(['log.pruned', 'task.finished'])
  })

  test('policy counters of earlier days and finished tasks are deleted', async () => {
    const app = shared()
    const finishedTask = (await createFinishedTask(app)).id
    const running = await startScriptedTask(app)
    const today = new Date(app.clock.now()).toISOString().slice(0, 10)
    const spans = ['day:2026-01-31', `day:${today}`, `task:${finishedTask}`, `task:${running}`]
    await inTx(app.ctx, async (tx) => {
      for (const span of spans) await upsertPolicyUse(tx.db, { project_id: 'prj_counted', rule: 'a', span, cap: 3 })
    })
    await inTx(app.ctx, (tx) => deleteOldPolicyCounters(tx.db, today))
    const remaining = await app.ctx.db.selectFrom('policy_counters').select('span').orderBy('span').execute()
    expect(remaining.map(({ span }) => span)).toEqual([`day:${today}`, `task:${running}`])
    await cancelTask(app, running)
  })

  test('running tasks, recent tasks and deployments without retention keep their logs', async () => {
    const app = shared()
    const running = await startScriptedTask(app)
    await app.clock.advance(100_000)
    const { id, last_event_id } = await createFinishedTask(app)
    const old = await app.createTask({ input: LINES })
    await app.finished(old.id)
    await app.clock.advance(80_000)
    expect((await app.events(id)).map((frame) => Number(frame.id))).toEqual(numbersUpTo(last_event_id))
    expect((await readTask(app, running)).log_pruned_at).toBeNull()
    await cancelTask(app, running)

    const appWithoutRetention = await testApp({ store, env: SCRIPTED_AGENT })
    const kept = await createFinishedTask(appWithoutRetention)
    await appWithoutRetention.clock.advance(100_000)
    expect(await framesOf(appWithoutRetention, kept.id)).toHaveLength(kept.last_event_id)
  })
})

eachStore((store) => {
  test('replicas that prune at the same time remove each log once, with one audit entry', async () => {
    const app = await testApp({ store, env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT } })
    const tasks = await Promise.all(Array.from({ length: 5 }, () => createFinishedTask(app)))
    const now = app.clock.now() + 2 * 24 * 60 * 60_000
    const later = { ...app.ctx, world: { ...app.ctx.world, clock: { now: () => now, after: () => () => {} } } }
    await Promise.all(Array.from({ length: 4 }, () => pruneOldLogs(later, 1)))
    const entries = (await app.call('GET', '/v1/audit?action=log.pruned')).body.data
    const removed: string[] = entries.flatMap(({ data }: { data: { tasks: string[] } }) => data.tasks)
    const finished: string[] = tasks.map(({ id }) => id)
    expect(removed.toSorted()).toEqual(finished.toSorted())
  })
})
