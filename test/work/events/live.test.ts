import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CLIENT_EVENT_TYPES } from '../../../src/work/events/client-frames.ts'
import { EVENT_PAGE_SIZE } from '../../../src/work/events/rows.ts'
import { eachStore, sharedApp, type TestApp, testApp } from '../../app.ts'
import {
  appendAsRun,
  cancelTask,
  NO_RATE_LIMIT,
  progressEvents,
  SCRIPTED_AGENT,
  startScriptedTask,
} from '../tasks/scripted-agent.ts'
import { eventIds, eventsUrl, numbersUpTo, openStream, readWholeStream } from './stream-reader.ts'

/** The events that a client collects if it disconnects after these numbers of characters and resumes each time. */
async function followWithDisconnects(app: TestApp, taskId: string, cuts: readonly number[]): Promise<string> {
  let whole = ''
  for (const cut of cuts) {
    const after = eventIds(whole).at(-1) ?? 0
    const reader = await openStream(eventsUrl(app, taskId), { 'last-event-id': String(after) })
    const text = await reader.until(({ length }) => length >= cut)
    reader.close()
    // An incomplete frame does not count as received.
    for (const frame of text.split('\n\n').slice(0, -1)) whole += `${frame}\n\n`
    if (whole.includes('event: task.finished')) return whole
  }
  return (
    whole + (await readWholeStream(eventsUrl(app, taskId), { 'last-event-id': String(eventIds(whole).at(-1) ?? 0) }))
  )
}

eachStore((store) => {
  describe('live streams of a task', () => {
    const shared = sharedApp({ store, env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT, SVC_MAX_CONCURRENT_TASKS: '64' } })

    test('twenty clients of one task get the same bytes, whenever they connect', async () => {
      const app = shared()
      const id = await startScriptedTask(app)
      const early = await Promise.all(Array.from({ length: 10 }, () => openStream(eventsUrl(app, id))))
      for (let i = 0; i < 20; i++) await appendAsRun(app, id, progressEvents(1 + (i % 7)))
      const late = await Promise.all(Array.from({ length: 10 }, () => openStream(eventsUrl(app, id))))
      for (let i = 0; i < 20; i++) await appendAsRun(app, id, progressEvents(1 + (i % 7)))
      await cancelTask(app, id)
      const texts = await Promise.all([...early, ...late].map((reader) => reader.ended))
      const whole = await readWholeStream(eventsUrl(app, id))
      expect(new Set(texts)).toEqual(new Set([whole]))
      expect(eventIds(whole)).toEqual(numbersUpTo(eventIds(whole).length))
    })

    test.each([-1, 0, 1])(
      'a client gets all events of a log that ends %d events from a page boundary, and later ones',
      async (off) => {
        const app = shared()
        const id = await startScriptedTask(app)
        // The log starts with one event.
        await appendAsRun(app, id, progressEvents(2 * EVENT_PAGE_SIZE - 1 + off))
        const reader = await openStream(eventsUrl(app, id))
        await reader.until(({ tail }) => eventIds(tail).at(-1) === 2 * EVENT_PAGE_SIZE + off)
        await appendAsRun(app, id, progressEvents(3))
        await cancelTask(app, id)
        const text = await reader.ended
        expect(eventIds(text)).toEqual(numbersUpTo(2 * EVENT_PAGE_SIZE + off + 4))
        expect(text).toBe(await readWholeStream(eventsUrl(app, id)))
      },
    )

    test('a client that disconnects at random and resumes gets exactly the log', async () => {
      const app = shared()
      const script = fc.record({
        commits: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 }),
        cuts: fc.array(fc.integer({ min: 0, max: 4_000 }), { maxLength: 8 }),
      })
      await fc.assert(
        fc.asyncProperty(script, async ({ commits, cuts }) => {
          const id = await startScriptedTask(app)
          const followed = followWithDisconnects(app, id, cuts)
          for (const count of commits) await appendAsRun(app, id, progressEvents(count))
          await cancelTask(app, id)
          expect(await followed).toBe(await readWholeStream(eventsUrl(app, id)))
        }),
        { numRuns: 8 },
      )
    })

    test('an event is sent only after it is committed', async () => {
      const app = shared()
      const id = await startScriptedTask(app)
      const reader = await openStream(eventsUrl(app, id))
      await appendAsRun(app, id, progressEvents(1, 'first'))
      const seen = eventIds(await reader.until(({ tail }) => tail.includes('first 0')))
      const row = await app.ctx.db.selectFrom('events').select('seq').where('task_id', '=', id).execute()
      expect(row.map(({ seq }) => seq)).toEqual(expect.arrayContaining(seen))
      await cancelTask(app, id)
      await reader.ended
    })
  })

  test('a stream sends keepalive comments only with SVC_SSE_KEEPALIVE_MS', async () => {
    const silent = await testApp({ store, env: SCRIPTED_AGENT })
    const withKeepalive = await testApp({ store, env: { ...SCRIPTED_AGENT, SVC_SSE_KEEPALIVE_MS: '1000' } })
    const texts = await Promise.all(
      [silent, withKeepalive].map(async (app) => {
        const id = await startScriptedTask(app)
        const reader = await openStream(eventsUrl(app, id))
        await reader.until(({ tail }) => tail.includes('task.created'))
        await app.clock.advance(3_000)
        await cancelTask(app, id)
        return reader.ended
      }),
    )
    const comments = texts.map((text) => text.split('\n\n').filter((frame) => frame.startsWith(':')).length)
    expect(comments).toEqual([0, 3])
    expect(texts.map(eventIds)).toEqual([numbersUpTo(2), numbersUpTo(2)])
  })
})

test('clients can read exactly the event types of the contract', () => {
  const contract =
    'task.created, step.started, tool.called, tool.result, progress, output.validated, artifact.created, task.finished'
  expect(CLIENT_EVENT_TYPES).toEqual(contract.split(', '))
})
