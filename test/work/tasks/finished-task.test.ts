import { describe, expect, test } from 'vitest'
import { anyStore, sharedApp } from '../../app.ts'
import {
  cancelTask,
  DESK_WEDGES,
  expectRefusal,
  NO_RATE_LIMIT,
  readTask,
  SCRIPTED_AGENT,
  startScriptedTask,
} from './scripted-agent.ts'

anyStore((store) => {
  const shared = sharedApp({
    store,
    wedges: DESK_WEDGES,
    env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT, SVC_MAX_CONCURRENT_TASKS: '1' },
  })
  const createFinishedTask = async (body: Record<string, unknown> = {}) => {
    const { id } = await shared().createTask({ input: [{ output: { a: 1 } }], ...body })
    await shared().finished(id)
    return id
  }

  describe('feedback', () => {
    const sendFeedback = (id: string, body: unknown) => shared().call('POST', `/v1/tasks/${id}/feedback`, body)

    test('feedback becomes knowledge and an event after task.finished; a rating alone is only an event', async () => {
      const app = shared()
      const id = await createFinishedTask()
      const rated = await sendFeedback(id, { rating: 4 })
      expect(rated).toMatchObject({ status: 201, body: { ok: true, knowledge_id: null } })
      const noted = await sendFeedback(id, { note: 'be brief', correction: { a: 2 } })
      expect(noted).toMatchObject({ status: 201, body: { ok: true, knowledge_id: expect.stringMatching(/^kn_/) } })
      const events = await app.events(id)
      expect(events.slice(-3).map(({ data }) => [data.type, data.data.knowledge_id])).toEqual([
        ['task.finished', undefined],
        ['feedback.recorded', null],
        ['feedback.recorded', noted.body.knowledge_id],
      ])
      expect(events.at(-1)?.data.data).toMatchObject({ source: 'task', note: 'be brief' })
      expect(await readTask(app, id)).toMatchObject({ status: 'succeeded', last_event_id: events.length })
    })

    test('feedback on a running task is an event in its log', async () => {
      const app = shared()
      const id = await startScriptedTask(app)
      expect((await sendFeedback(id, { note: 'careful' })).status).toBe(201)
      await cancelTask(app, id)
      const events = await app.events(id)
      expect(events.map(({ event, id: seq }) => [seq, event])).toEqual([
        ['1', 'task.created'],
        ['2', 'feedback.recorded'],
        ['3', 'task.finished'],
      ])
    })

    test('feedback on a task that has not started returns 409, so task.created stays the first event', async () => {
      const app = shared()
      const first = await startScriptedTask(app)
      const { id } = await app.createTask({ input: [{ output: 1 }] })
      const response = await sendFeedback(id, { note: 'too early' })
      expectRefusal(response, 409)
      await cancelTask(app, first)
      const events = await app.events(id)
      expect(events[0]).toMatchObject({ id: '1', event: 'task.created' })
      expect(events.at(-1)).toMatchObject({ event: 'task.finished' })
    })

    test.each([{}, { rating: '' }, { note: ' ' }, { correction: null }, { rating: '', note: '', correction: '' }])(
      'empty feedback returns 400 and writes no event: %j',
      async (body) => {
        const app = shared()
        const id = await createFinishedTask()
        const before = await readTask(app, id)
        expectRefusal(await sendFeedback(id, body), 400, "one of 'rating', 'correction' and 'note' is required")
        expect(await readTask(app, id)).toEqual(before)
      },
    )

    test.each([{ rating: true }, { rating: {} }, { note: 1 }, { note: 'x'.repeat(10_001) }])(
      'feedback of a wrong type returns 400: %j',
      async (body) => {
        const app = shared()
        const id = await createFinishedTask()
        const before = await readTask(app, id)
        expectRefusal(await sendFeedback(id, body), 400, /^field '(rating|note)'/)
        expect(await readTask(app, id)).toEqual(before)
      },
    )
  })

  describe('artifacts', () => {
    const text = Buffer.from('<script>alert(1)</script>').toString('base64')

    test('an artifact is served raw with its own type, and the headers forbid sniffing and scripts', async () => {
      const app = shared()
      const page = { name: 'page.html', content_type: 'text/html', content_base64: text }
      const id = await createFinishedTask({ input: [{ artifact: page }, { output: { a: 1 } }] })
      const { artifacts } = await readTask(app, id)
      expect(artifacts).toMatchObject([
        { name: 'output.json', content_type: 'application/json', size: 7 },
        { name: 'page.html', content_type: 'text/html', size: 25 },
      ])
      const [output, html] = await Promise.all(
        artifacts.map((artifact: { id: string }) => app.call('GET', `/v1/artifacts/${artifact.id}`)),
      )
      expect(output.body).toEqual({ a: 1 })
      expect(html.body).toBe('<script>alert(1)</script>')
      for (const [response, type] of [
        [output, 'application/json'],
        [html, 'text/html'],
      ]) {
        expect(response.headers.get('content-type')).toBe(type)
        expect(response.headers.get('x-content-type-options')).toBe('nosniff')
        expect(response.headers.get('content-security-policy')).toMatch(/(^|;\s*)sandbox(;|$)/)
      }
    })

    test('the type and the name of an artifact cannot inject headers', async () => {
      const app = shared()
      const hostile = {
        name: 'a"\r\nset-cookie: x=1\u{1F600}.txt',
        content_type: 'text/plain\r\nx: y',
        content_base64: text,
      }
      const id = await createFinishedTask({ input: [{ artifact: hostile }, { output: 1 }] })
      const { id: artifact } = (await readTask(app, id)).artifacts[1]
      const { status, headers } = await app.call('GET', `/v1/artifacts/${artifact}`)
      expect(status).toBe(200)
      expect(headers.get('set-cookie')).toBeNull()
      expect(headers.get('content-type')).toBe('application/octet-stream')
    })

    test.each([
      ['../../.ssh/authorized_keys', '.ssh/authorized_keys'],
      ['/etc/passwd', 'etc/passwd'],
      ['..\\up\\here.txt', 'up/here.txt'],
      ['sub/./table.csv', 'sub/table.csv'],
      ['\u202Egnp.exe', 'gnp.exe'],
      [`${'a'.repeat(254)}\u{1F600}`, 'a'.repeat(254)],
      [' .. ', 'artifact'],
    ])('the name of an artifact is made safe for a file system: %s', async (name, kept) => {
      const id = await createFinishedTask({ input: [{ artifact: { name, content_base64: text } }, { output: 1 }] })
      expect((await readTask(shared(), id)).artifacts[1].name).toBe(kept)
    })

    test('an artifact with invalid base64 is left out; line breaks and URL-safe base64 are accepted', async () => {
      const contents = ['%%%', 'aGk=\naGk=\n', '-_-_']
      const lines = contents.map((content_base64) => ({ artifact: { name: 'f', content_base64 } }))
      const { artifacts } = await readTask(shared(), await createFinishedTask({ input: [...lines, { output: 1 }] }))
      expect(artifacts.map((artifact: { size: number }) => artifact.size)).toEqual([1, 2, 3])
    })

    test('an unknown artifact returns 404', async () => {
      expectRefusal(await shared().call('GET', '/v1/artifacts/art_unknown'), 404, 'no such artifact')
    })
  })
})
