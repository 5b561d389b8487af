import { describe, expect, test } from 'vitest'
import { anyStore, FOUNDER_KEY, sharedApp } from '../../app.ts'
import {
  appendAsRun,
  cancelTask,
  expectRefusal,
  NO_RATE_LIMIT,
  progressEvents,
  readTask,
  SCRIPTED_AGENT,
  startScriptedTask,
} from '../tasks/scripted-agent.ts'
import { eventIds, eventsUrl, numbersUpTo, openStream, readWholeStream } from './stream-reader.ts'

anyStore((store) => {
  const shared = sharedApp({ store, env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT } })
  const finishedTask = async () => {
    const lines = [1, 2, 3].map((n) => ({ event: 'progress', data: { text: `step ${n}: é 😀 \n\r\u2028` } }))
    const { id } = await shared().createTask({ input: [...lines, { output: 'done' }] })
    await shared().finished(id)
    return id
  }

  describe('the stream of a task', () => {
    test('each frame of a stream has id, event and data, and data is the whole event', async () => {
      const app = shared()
      const id = await finishedTask()
      const response = await fetch(eventsUrl(app, id), { headers: { authorization: `Bearer ${FOUNDER_KEY}` } })
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
      expect(response.headers.get('cache-control')).toMatch(/no-cache/)
      expect(response.headers.get('x-request-id')).toMatch(/./)
      const text = await response.text()
      const frames = text.split('\n\n')
      expect(frames.pop()).toBe('')
      frames.forEach((frame, i) => {
        const [first, second, third = '', ...more] = frame.split('\n')
        const event = JSON.parse(third.slice('data: '.length))
        expect([first, second, more]).toEqual([`id: ${i + 1}`, `event: ${event.type}`, []])
        expect(Object.keys(event)).toEqual(['id', 'task_id', 'seq', 'type', 'ts', 'data'])
        expect(event).toMatchObject({ id: i + 1, seq: i + 1, task_id: id, data: expect.any(Object) })
        expect(event.ts).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      })
      expect(eventIds(text)).toEqual(numbersUpTo((await readTask(app, id)).last_event_id))
      expect(text.match(/^event: .*$/gm)?.at(0)).toBe('event: task.created')
      expect(text.match(/^event: .*$/gm)?.at(-1)).toBe('event: task.finished')
    })

    test('a stream resumes exactly after the id in the header or the query, at every position', async () => {
      const app = shared()
      const id = await finishedTask()
      const whole = await readWholeStream(eventsUrl(app, id))
      const frames = whole.split('\n\n').slice(0, -1)
      for (let after = 0; after < frames.length; after++) {
        const rest = frames
          .slice(after)
          .map((frame) => `${frame}\n\n`)
          .join('')
        expect(await readWholeStream(eventsUrl(app, id), { 'last-event-id': String(after) })).toBe(rest)
        expect(await readWholeStream(eventsUrl(app, id, `?lastEventId=${after}`))).toBe(rest)
      }
    })

    test('the Last-Event-ID header takes precedence over the query', async () => {
      const app = shared()
      const id = await finishedTask()
      const last = (await readTask(app, id)).last_event_id
      const text = await readWholeStream(eventsUrl(app, id, '?lastEventId=1'), { 'last-event-id': String(last - 1) })
      expect(eventIds(text)).toEqual([last])
    })

    test('a stream that is resumed at or after the end of a finished task is 204', async () => {
      const app = shared()
      const id = await finishedTask()
      const path = `/v1/tasks/${id}/events`
      const resume = (after: number) => app.call('GET', path, undefined, { headers: { 'last-event-id': `${after}` } })
      const last = (await readTask(app, id)).last_event_id
      for (const after of [last, last + 1, 9_007_199_254_740_991]) {
        expect(await resume(after)).toMatchObject({ status: 204, body: '' })
        expect((await app.call('GET', `${path}?lastEventId=${after}`)).status).toBe(204)
      }
      await app.call('POST', `/v1/tasks/${id}/feedback`, { note: 'good' })
      expect((await resume(last)).status).toBe(200)
      expect((await resume(last + 1)).status).toBe(204)
    })

    test('a stream that is resumed after the last event of a running task ends with the task', async () => {
      const app = shared()
      const id = await startScriptedTask(app)
      const reader = await openStream(eventsUrl(app, id), { 'last-event-id': '1000' })
      await appendAsRun(app, id, progressEvents(3))
      await cancelTask(app, id)
      const text = await reader.ended
      expect(eventIds(text).every((seq) => seq <= 5)).toBe(true)
    })

    test.each(['-1', '1.5', 'abc', '', ' ', '1e3', '0x10', '9007199254740992', '99999999999999999999'])(
      'the event id %j is 400, because it is not a whole number of at least 0',
      async (after) => {
        const app = shared()
        const path = `/v1/tasks/${await sharedTask()}/events`
        const query = `?lastEventId=${encodeURIComponent(after)}`
        expectRefusal(await app.call('GET', path + query), 400, /event id/)
        if (after.trim() !== '')
          expectRefusal(
            await app.call('GET', path, undefined, { headers: { 'last-event-id': after } }),
            400,
            /event id/,
          )
      },
    )

    let sharedTaskId: string | null = null
    const sharedTask = async () => {
      sharedTaskId ??= await finishedTask()
      return sharedTaskId
    }

    test('a stream of an unknown or foreign task is 404 before the event id is validated', async () => {
      const app = shared()
      const ada = { email: 'ada@example.com', password: 'long enough password' }
      const { session_token: key } = (await app.call('POST', '/v1/auth/signup', ada)).body
      const { body: project } = await app.call('POST', '/v1/projects', { name: 'Other' }, { key })
      const path = `/v1/tasks/${await sharedTask()}/events`
      const otherProject = { key, headers: { 'x-svc-project': project.id, 'last-event-id': 'nonsense' } }
      const absent = await app.call('GET', '/v1/tasks/task_00000000000000000000000000/events?lastEventId=nonsense')
      const foreign = await app.call('GET', path, undefined, otherProject)
      expectRefusal(absent, 404, 'no such task')
      expect(foreign.body).toEqual(absent.body)
      expect(foreign.status).toBe(404)
    })

    test('a stream shows feedback that was added after the end, on replay and on resume', async () => {
      const app = shared()
      const id = await finishedTask()
      const before = await readWholeStream(eventsUrl(app, id))
      await app.call('POST', `/v1/tasks/${id}/feedback`, { note: 'good' })
      const after = await readWholeStream(eventsUrl(app, id))
      expect(after.startsWith(before)).toBe(true)
      const last = eventIds(before).length
      expect(eventIds(after)).toEqual(numbersUpTo(last + 1))
      expect(await readWholeStream(eventsUrl(app, id), { 'last-event-id': String(last) })).toBe(
        after.slice(before.length),
      )
      expect(after.slice(before.length)).toContain('event: feedback.recorded\n')
    })

    test('a live stream ends with task.finished', async () => {
      const app = shared()
      const id = await startScriptedTask(app)
      const reader = await openStream(eventsUrl(app, id))
      await cancelTask(app, id)
      expect(await reader.ended).toMatch(/event: task\.finished\n[^\n]*\n\n$/)
    })

    test('a replay of more than 5,000 events does not overflow', async () => {
      const app = shared()
      const id = await startScriptedTask(app)
      for (let i = 0; i < 6; i++) await appendAsRun(app, id, progressEvents(1_000))
      await cancelTask(app, id)
      const text = await readWholeStream(eventsUrl(app, id))
      expect(eventIds(text)).toEqual(numbersUpTo(6_002))
      expect(text).not.toContain('event: error')
    })
  })
})
