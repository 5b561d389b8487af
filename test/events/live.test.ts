import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EVENT_PAGE_SIZE } from '../../src/events/rows.ts'
import { CLIENT_EVENT_TYPES } from '../../src/events/client-frames.ts'
import { eachStore, sharedApp, type TestApp, testApp } from '../app.ts'
import {
  cancelTask,
  progressEvents,
  startScriptedTask,
  SCRIPTED_AGENT,
  appendAsRun,
  NO_RATE_LIMIT,
} from '../tasks/scripted-agent.ts'
import { eventIds, numbersUpTo, openStream, readWholeStream, eventsUrl } from './stream-reader.ts'

/** What a client that follows, loses the connection and comes back has put together in the end. */
async function followWithCuts(app: TestApp, taskId: string, cuts: readonly number[]): Promise<string> {
  let whole = ''
  for (const cut of cuts) {
    const after = eventIds(whole).at(-1) ?? 0
    const reader = await openStream(eventsUrl(app, taskId), { 'last-event-id': String(after) })
    const text = await reader.until(({ length }) => length >= cut)
    reader.close()
    // A frame that was cut in two is not an event yet.
    for (const frame of text.split('\n\n').slice(0, -1)) whole += `${frame}\n\n`
    if (whole.includes('event: task.finished')) return whole
  }
  return (
    whole + (await readWholeStream(eventsUrl(app, taskId), { 'last-event-id': String(eventIds(whole).at(-1) ?? 0) }))
  )
}

eachStore((store) => {
  describe('followers', () => {
    const shared = sharedApp({ store, env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT, SVC_MAX_CONCURRENT_TASKS: '64' } })

    test('twenty of one task see the same bytes, whenever they came', async () => {
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
      'one of a log that ends %d from the end of a page has all of it, and what comes next',
      async (off) => {
        const app = shared()
        const id = await startScriptedTask(app)
        // The log begins with one event.
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

    test('one that is cut off at random and comes back has the log, exactly, in the end', async () => {
      const app = shared()
      const script = fc.record({
        commits: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 }),
        cuts: fc.array(fc.integer({ min: 0, max: 4_000 }), { maxLength: 8 }),
      })
      await fc.assert(
        fc.asyncProperty(script, async ({ commits, cuts }) => {
          const id = await startScriptedTask(app)
          const followed = followWithCuts(app, id, cuts)
          for (const count of commits) await appendAsRun(app, id, progressEvents(count))
          await cancelTask(app, id)
          expect(await followed).toBe(await readWholeStream(eventsUrl(app, id)))
        }),
        { numRuns: 8 },
      )
    })

    test('nobody hears of an event before it is committed', async () => {
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

  test('comments keep a silent stream alive when the deployment asks for them, and only then', async () => {
    const quiet = await testApp({ store, env: SCRIPTED_AGENT })
    const talking = await testApp({ store, env: { ...SCRIPTED_AGENT, SVC_SSE_KEEPALIVE_MS: '1000' } })
    const texts = await Promise.all(
      [quiet, talking].map(async (app) => {
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

test("what a client may see of a log is the contract's list", () => {
  const contract =
    'task.created, step.started, tool.called, tool.result, progress, output.validated, artifact.created, task.finished'
  expect(CLIENT_EVENT_TYPES).toEqual(contract.split(', '))
})
