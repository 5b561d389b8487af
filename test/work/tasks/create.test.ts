import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { lockClient } from '../../../src/identity/organisations/project-client-rows.ts'
import { eachStore, sharedApp, testApp, type TestApp } from '../../app.ts'
import { otherOrganisationSession } from '../../customers/channels/channel-app.ts'
import { DESK_WEDGES, expectRefusal, NO_RATE_LIMIT, readTask } from './scripted-agent.ts'

const IDLE = { wedge: 'desk', task_type: 'idle' }

/** The number of rows in each table that a creation writes. */
async function countRows(app: TestApp): Promise<number[]> {
  const count = async (table: 'tasks' | 'audit_entries' | 'idempotency_keys' | 'minute_counts') => {
    const row = await app.ctx.db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll().as('n'))
      .executeTakeFirstOrThrow()
    return Number(row.n)
  }
  return Promise.all([count('tasks'), count('audit_entries'), count('idempotency_keys'), count('minute_counts')])
}

eachStore((store) => {
  const shared = sharedApp({
    store,
    wedges: DESK_WEDGES,
    env: { ...NO_RATE_LIMIT, SVC_MAX_RUNTIME_S: '900', SVC_OPEN_SIGNUP: '1' },
  })

  test('a creation returns 201 with the task and its location', async () => {
    const app = shared()
    const { status, body, headers } = await app.call('POST', '/v1/tasks', { ...IDLE, input: { a: [1] }, actor: 'ada' })
    expect(status).toBe(201)
    expect(headers.get('location')).toBe(`/v1/tasks/${body.id}`)
    expect(headers.get('idempotency-replayed')).toBeNull()
    expect(body).toEqual({
      id: expect.stringMatching(/^task_[0-9a-hjkmnp-tv-z]{26}$/),
      project_id: expect.stringMatching(/^prj_/),
      queue_reason: null,
      waiting_for: null,
      ...IDLE,
      status: 'queued',
      input: { a: [1] },
      actor: 'ada',
      constraints: { max_runtime_s: 900, max_cost_usd: 5, approval_required: false },
      tools: [],
      output_schema: null,
      output: null,
      error: null,
      cost_usd: 0,
      artifacts: [],
      files: [],
      client_id: null,
      thread_id: null,
      channel_id: null,
      case_id: null,
      schedule_id: null,
      retry_of: null,
      last_event_id: 0,
      log_pruned_at: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      started_at: null,
      finished_at: null,
    })
    await app.finished(body.id)
  })

  test('a task with client_id belongs to the client, and is erased with it', async () => {
    const app = shared()
    const client = (await app.call('POST', '/v1/clients', { display_name: 'Ada' })).body
    const { status, body } = await app.call('POST', '/v1/tasks', { ...IDLE, input: 'secret', client_id: client.id })
    expect({ status, client_id: body.client_id }).toEqual({ status: 201, client_id: client.id })
    await app.finished(body.id)
    const listed = await app.call('GET', `/v1/tasks?client_id=${client.id}`)
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([body.id])
    expect((await app.call('POST', `/v1/clients/${client.id}/erase`)).body.erased.tasks).toBe(1)
    expect((await readTask(app, body.id)).input).toBeNull()
  })

  test('a task for a client of another organisation, or of none, is 400', async () => {
    const app = shared()
    const key = await otherOrganisationSession(app)
    const theirs = (await app.call('POST', '/v1/clients', { display_name: 'Ada' }, { key })).body.id
    for (const client_id of [theirs, 'cli_unknown']) {
      const refused = await app.call('POST', '/v1/tasks', { ...IDLE, client_id })
      expect(refused).toMatchObject({ status: 400, body: { error: `unknown client '${client_id}'` } })
    }
  })

  test('the response names the fields of the body that the service ignores', async () => {
    const app = shared()
    const ignoredOf = async (more: object) =>
      (await app.call('POST', '/v1/tasks', { ...IDLE, ...more })).headers.get('x-svc-ignored-fields')
    expect(await ignoredOf({ input: { any: 1 }, actor: { any: 1 }, constraints: { max_cost_usd: 1 } })).toBeNull()
    const unknown = { thread: 1, 'Eingabe\u00e4': 1, constraints: { max_steps: 5 } }
    expect(await ignoredOf(unknown)).toBe('constraints.max_steps, thread, Eingabe%C3%A4')
  })

  test('an input that does not match the schema of the task type is 400 with the field', async () => {
    const app = shared()
    const create = (input: unknown) => app.call('POST', '/v1/tasks', { wedge: 'desk', task_type: 'typed', input })
    for (const [input, error] of [
      [undefined, 'input must be object, not null'],
      [{}, 'input.order_id is required'],
      [{ order_id: 7 }, 'input.order_id must be string, not integer'],
    ] as const) {
      expect(await create(input)).toMatchObject({ status: 400, body: { error } })
    }
    const { status, body } = await create({ order_id: 'A-1' })
    expect(status).toBe(201)
    await app.finished(body.id)
  })

  test.each<[string, unknown]>([
    ['a text', 'hello'],
    ['nothing', null],
    ['a number', 0],
    ['false', false],
    ['an empty list', []],
    ['words of every script', { ключ: '😀 é \u2028 \u0001 "\\' }],
  ])('input and actor accept any JSON value, such as %s', async (_, value) => {
    const app = shared()
    const { id } = await app.createTask({ ...IDLE, input: value, actor: value })
    expect(await readTask(app, id)).toMatchObject({ input: value, actor: value })
  })

  describe('an invalid request returns 400, names the field and writes nothing', () => {
    const wrong: [string, Record<string, unknown>, string][] = [
      ['no wedge', { wedge: undefined }, "field 'wedge' is required"],
      ['no task type', { task_type: undefined }, "field 'task_type' is required"],
      ...[null, 7, true, [], {}].map((value): [string, Record<string, unknown>, string] => [
        `wedge ${JSON.stringify(value)}`,
        { wedge: value },
        "field 'wedge' must be a string",
      ]),
      ['task type null', { task_type: null }, "field 'task_type' must be a string"],
      ['task type a number', { task_type: 1 }, "field 'task_type' must be a string"],
      ['an unknown wedge', { wedge: 'unknown' }, "unknown wedge 'unknown'"],
      ['an empty wedge', { wedge: '' }, "field 'wedge' must not be empty"],
      ['a wedge that is a path', { wedge: '../desk' }, 'unknown wedge'],
      ['a wedge named like a method', { wedge: 'constructor' }, 'unknown wedge'],
      ['an unknown task type', { task_type: 'nothing' }, "unknown task type 'nothing'"],
      ['a task type named like a method', { task_type: 'constructor' }, 'unknown task type'],
      ['a task type named __proto__', { task_type: '__proto__' }, 'unknown task type'],
      ...[null, 'x', [], 5].map((value): [string, Record<string, unknown>, string] => [
        `constraints ${JSON.stringify(value)}`,
        { constraints: value },
        "field 'constraints' must be an object",
      ]),
      ...['max_runtime_s', 'max_cost_usd'].flatMap((name) =>
        [0, -1, '10', null, true].map((value): [string, Record<string, unknown>, string] => [
          `${name} ${JSON.stringify(value)}`,
          { constraints: { [name]: value } },
          `field 'constraints.${name}' must be`,
        ]),
      ),
      ...['yes', 1, null].map((value): [string, Record<string, unknown>, string] => [
        `approval_required ${JSON.stringify(value)}`,
        { constraints: { approval_required: value } },
        "field 'constraints.approval_required' must be true or false",
      ]),
      ['tools that are no list', { tools: 'act' }, "field 'tools' must be a list"],
      ['a tool that is no name', { tools: ['act', 1] }, "field 'tools.1' must be a string"],
      ['an unknown tool', { tools: ['rm'] }, "unknown tool 'rm'"],
      ...['x', [], 1, true].map((value): [string, Record<string, unknown>, string] => [
        `output_schema ${JSON.stringify(value)}`,
        { output_schema: value },
        "field 'output_schema' must be an object",
      ]),
    ]
    test.each(wrong)('%s', async (_, fields, message) => {
      const app = shared()
      const before = await countRows(app)
      const headers = { 'idempotency-key': 'wrong' }
      const response = await app.call('POST', '/v1/tasks', { ...IDLE, ...fields }, { headers })
      expectRefusal(response, 400)
      expect(response.body.error).toContain(message)
      expect(await countRows(app)).toEqual(before)
    })
  })

  test('a wedge that is not enabled for the project returns 403, and an unknown wedge 400', async () => {
    const app = shared()
    const { body } = await app.call('GET', '/v1/projects')
    const project = `/v1/projects/${body.data[0].id}`
    await app.call('PUT', project, { wedges: ['echo'] })
    const before = await countRows(app)
    expectRefusal(await app.call('POST', '/v1/tasks', IDLE), 403, /not enabled/)
    expectRefusal(await app.call('POST', '/v1/tasks', { ...IDLE, wedge: 'unknown' }), 400, /unknown wedge/)
    expect(await countRows(app)).toEqual(before)
    await app.call('PUT', project, { wedges: null })
    expect((await app.call('POST', '/v1/tasks', IDLE)).status).toBe(201)
  })

  describe('constraints: the lowest of the server, task type and request limits applies', () => {
    const constraintsOf = async (task_type: string, constraints?: object) =>
      (await shared().createTask({ wedge: 'desk', task_type, constraints })).constraints

    test.each<[string, string, object | undefined, object]>([
      ['no limit requested', 'idle', undefined, { max_runtime_s: 900, max_cost_usd: 5 }],
      [
        'more than the ceiling',
        'idle',
        { max_runtime_s: 1e9, max_cost_usd: 1e9 },
        { max_runtime_s: 900, max_cost_usd: 5 },
      ],
      [
        'less than the ceiling',
        'idle',
        { max_runtime_s: 1.5, max_cost_usd: 0.01 },
        { max_runtime_s: 1.5, max_cost_usd: 0.01 },
      ],
      ['no limit requested, strict type', 'strict', {}, { max_runtime_s: 60, max_cost_usd: 0.5 }],
      [
        'more than a strict type',
        'strict',
        { max_runtime_s: 61, max_cost_usd: 1 },
        { max_runtime_s: 60, max_cost_usd: 0.5 },
      ],
      ['less than a strict type', 'strict', { max_runtime_s: 59 }, { max_runtime_s: 59, max_cost_usd: 0.5 }],
      ['an approval', 'idle', { approval_required: true }, { approval_required: true }],
      ['no approval', 'idle', { approval_required: false }, { approval_required: false }],
    ])('%s', async (_, type, requested, effective) => {
      expect(await constraintsOf(type, requested)).toMatchObject(effective)
    })
  })
})

test('PostgreSQL: tasks without a client are created while a task waits for its client, which is locked', async () => {
  const app = await testApp({ store: 'postgres', wedges: DESK_WEDGES })
  const client = (await app.call('POST', '/v1/clients', { display_name: 'Ada' })).body
  let unlock = () => {}
  const transaction = app.ctx.store.transact(async (db) => {
    await lockClient(db, client.id)
    await new Promise<void>((resolve) => {
      unlock = resolve
    })
  })
  const waiting = app.call('POST', '/v1/tasks', { ...IDLE, client_id: client.id })
  const lockWaits = sql<{ n: number }>`
    select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  await expect.poll(async () => (await lockWaits.execute(app.ctx.db)).rows[0]?.n).toBe(1)
  const others = Promise.all([1, 2, 3].map(() => app.call('POST', '/v1/tasks', IDLE)))
  expect((await others).map(({ status }) => status)).toEqual([201, 201, 201])
  unlock()
  await transaction
  expect((await waiting).status).toBe(201)
})
