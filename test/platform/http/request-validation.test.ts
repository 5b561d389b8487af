import { describe, expect, test } from 'vitest'
import { FOUNDER_KEY, anyStore, sharedApp, type TestApp } from '../../app.ts'
import { expectRefusal, readTask, NO_RATE_LIMIT, DESK_WEDGES } from '../../work/tasks/scripted-agent.ts'

const IDLE = { wedge: 'desk', task_type: 'idle' }
const withInput = (text: string) => `{"wedge":"desk","task_type":"idle","input":${text}}`
const bytes = (...parts: (string | number[])[]) =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...Buffer.from(part)] : part)))

/** Row counts and the newest audit entry, which change with every write. */
async function readWrittenState(app: TestApp): Promise<unknown> {
  const { db } = app.ctx
  const count = (table: 'tasks' | 'idempotency_keys' | 'minute_counts') =>
    db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll().as('n'))
      .executeTakeFirst()
  const audit = await app.call('GET', '/v1/audit?limit=1')
  return [await count('tasks'), await count('idempotency_keys'), await count('minute_counts'), audit.body.data]
}

anyStore((store) => {
  const shared = sharedApp({ store, wedges: DESK_WEDGES, env: NO_RATE_LIMIT })

  describe('an invalid body is refused and nothing is written', () => {
    test.each<[string, string | Uint8Array<ArrayBuffer>, RegExp]>([
      ['malformed JSON', '{"wedge":', /malformed json/],
      ['a byte order mark', `\ufeff${withInput('1')}`, /malformed json/],
      ['invalid UTF-8', bytes('{"wedge":"', [0xff], '"}'), /utf-8/],
      ['a NUL character', withInput('"\\u0000"'), /nul/],
      ['a lone surrogate', withInput('"\\ud800"'), /surrogate/],
      ['JSON deeper than 64 levels', withInput('['.repeat(64) + ']'.repeat(64)), /64 levels/],
      ['a list', '[]', /object/],
      ['a string', '"wedge"', /object/],
      ['null', 'null', /object/],
    ])('an invalid body is 400: %s', async (_, raw, sentence) => {
      const app = shared()
      const before = await readWrittenState(app)
      const headers = { 'idempotency-key': 'bad-body' }
      expectRefusal(await app.call('POST', '/v1/tasks', undefined, { raw, headers }), 400, sentence)
      expect(await readWrittenState(app)).toEqual(before)
    })

    test('JSON of 64 levels is accepted', async () => {
      const raw = withInput('['.repeat(63) + ']'.repeat(63))
      expect((await shared().call('POST', '/v1/tasks', undefined, { raw })).status).toBe(201)
    })
  })

  test('a body over 1 MiB is 413, one of exactly 1 MiB is not', async () => {
    const app = shared()
    const emptyLength = withInput('""').length
    const full = withInput(`"${'x'.repeat(1024 * 1024 - emptyLength)}"`)
    expect((await app.call('POST', '/v1/tasks', undefined, { raw: full })).status).toBe(201)
    expectRefusal(await app.call('POST', '/v1/tasks', undefined, { raw: `${full} ` }), 413)
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'nonsense', ''])(
    'the content type %j is 415',
    async (type) => {
      const response = await shared().call('POST', '/v1/tasks', IDLE, { headers: { 'content-type': type } })
      expectRefusal(response, 415)
      expect(response.body.error).toBe(response.body.error.toLowerCase())
    },
  )

  test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/vnd.work+json'])(
    'the content type %j is accepted',
    async (type) => {
      const response = await shared().call('POST', '/v1/tasks', IDLE, { headers: { 'content-type': type } })
      expect(response.status).toBe(201)
    },
  )

  test('__proto__ and constructor keys are stored and returned as plain data', async () => {
    const app = shared()
    const input = '{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}},"a":{"__proto__":[1]}}'
    const created = await app.call('POST', '/v1/tasks', undefined, { raw: withInput(input) })
    expect(created.status).toBe(201)
    expect(JSON.stringify(created.body.input)).toBe(input)
    expect(JSON.stringify((await readTask(app, created.body.id)).input)).toBe(input)
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined()
  })

  test('unknown fields are ignored, also one named __proto__', async () => {
    const raw = '{"__proto__":{"wedge":"x"},"wedge":"desk","task_type":"idle","colour":"red"}'
    const { status, body } = await shared().call('POST', '/v1/tasks', undefined, { raw })
    expect(status).toBe(201)
    expect(body).not.toHaveProperty('colour')
  })

  test('an unknown route is 404 with a JSON error, with and without a credential', async () => {
    const app = shared()
    for (const [method, path] of [
      ['GET', '/v1/nothing'],
      ['DELETE', '/v1/tasks'],
      ['POST', '/'],
      ['GET', '/V1/tasks'],
    ] as const) {
      expectRefusal(await app.call(method, path), 404)
      expectRefusal(await app.call(method, path, undefined, { key: null }), 404)
    }
  })

  test.each(['%00', '%ED%A0%80', '%', '%ff', '..%2f..%2fetc', 'task_%20', 'x'.repeat(600)])(
    'the malformed id %s is a 4xx and never an internal error',
    async (id) => {
      for (const path of [`/v1/tasks/${id}`, `/v1/tasks/${id}/events`, `/v1/artifacts/${id}`]) {
        const response = await shared().call('GET', path)
        expect([400, 404, 414]).toContain(response.status)
        expectRefusal(response, response.status)
      }
    },
  )

  test.each(['wedge=%00', 'wedge=%ED%A0%80', 'client_id=%00', 'cursor=%00', 'status=%00', 'wedge=a&wedge=b'])(
    'the malformed query %s is never an internal error',
    async (query) => {
      const response = await shared().call('GET', `/v1/tasks?${query}`)
      expect([200, 400]).toContain(response.status)
      if (response.status === 400) expectRefusal(response, 400)
    },
  )

  test('an absent resource is 404 before the body is validated', async () => {
    const app = shared()
    for (const raw of ['{', '{"rating":true}']) {
      expectRefusal(await app.call('POST', '/v1/tasks/task_nobody/feedback', undefined, { raw }), 404, 'no such task')
    }
  })

  test('every response has its own request id', async () => {
    const app = shared()
    const ids = await Promise.all(
      ['/health', '/v1/tasks', '/v1/nothing', '/docs'].map(async (path) =>
        (await app.call('GET', path)).headers.get('x-request-id'),
      ),
    )
    expect(new Set(ids).size).toBe(4)
    const sent = await app.call('GET', '/health', undefined, { headers: { 'x-request-id': 'mine\tand yours' } })
    expect(sent.headers.get('x-request-id')).not.toContain('mine')
  })

  test.each([null, '', 'svc_key_unknown_0123456789abcdefghij', 'svc_cst_x', 'svc_tsk_x', `${FOUNDER_KEY}x`])(
    'the credential %j is 401 and the response names the scheme',
    async (key) => {
      const response = await shared().call('GET', '/v1/tasks', undefined, { key })
      expectRefusal(response, 401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
    },
  )

  test('a request without a credential is 401 before the body is validated, and the public port does not serve the sandbox plane', async () => {
    const app = shared()
    expectRefusal(await app.call('POST', '/v1/tasks', undefined, { raw: '{', key: null }), 401)
    expectRefusal(await app.call('POST', '/v1/internal/gate', { tool: 'send' }), 401)
  })

  test('the health check needs no credential', async () => {
    const { status, body } = await shared().call('GET', '/health', undefined, { key: null })
    expect({ status, body }).toEqual({ status: 200, body: { status: 'ok' } })
  })
})
