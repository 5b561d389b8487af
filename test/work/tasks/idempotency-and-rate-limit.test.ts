import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { toIsoTime } from '../../../src/platform/ctx/world.ts'
import { anyStore, eachStore, sharedApp, startTestApp, type TestApp, testApp } from '../../app.ts'
import type { ApiResponse } from '../../http.ts'
import { DESK_WEDGES, expectRefusal, NO_RATE_LIMIT, readTask } from './scripted-agent.ts'

const IDLE = { wedge: 'desk', task_type: 'idle' }
const DAY = 24 * 60 * 60 * 1000

const create = (app: TestApp, body: object = IDLE, key?: string): Promise<ApiResponse> =>
  app.call('POST', '/v1/tasks', body, key === undefined ? {} : { headers: { 'idempotency-key': key } })

/** The number of responses by status. */
function countByStatus(responses: ApiResponse[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const createMany = (count: number, ...apps: TestApp[]) =>
  Promise.all(Array.from({ length: count }, (_, i) => create(apps[i % apps.length] as TestApp)))

async function listTaskIds(app: TestApp): Promise<string[]> {
  const { body } = await app.call('GET', '/v1/tasks?limit=200')
  return body.data.map((task: { id: string }) => task.id)
}

anyStore((store) => {
  const shared = sharedApp({ store, wedges: DESK_WEDGES, env: NO_RATE_LIMIT })

  test('a replay returns 201 with the current task, and the same key with another body returns 409', async () => {
    const app = shared()
    const { body: task } = await create(app, IDLE, 'key 1~')
    await app.finished(task.id)
    const again = await create(app, IDLE, 'key 1~')
    expect(again.status).toBe(201)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.body).toEqual(await readTask(app, task.id))
    expectRefusal(await create(app, { ...IDLE, input: 2 }, 'key 1~'), 409, /idempotency key/)
    expect((await create(app, IDLE, 'key 2')).body.id).not.toBe(task.id)
    expect((await create(app)).body.id).not.toBe(task.id)
  })

  test('a replay succeeds even if its wedge was disabled or removed since', async () => {
    const app = await testApp({ store, wedges: DESK_WEDGES, env: NO_RATE_LIMIT })
    const project = (await app.call('GET', '/v1/projects')).body.data[0].id
    const { body: task } = await create(app, IDLE, 'kept')
    await app.finished(task.id)
    const expectReplay = async (refusal: number) => {
      const again = await create(app, IDLE, 'kept')
      expect(again).toMatchObject({ status: 201, body: { id: task.id } })
      expect(again.headers.get('idempotency-replayed')).toBe('true')
      expectRefusal(await create(app, { ...IDLE, input: 2 }, 'kept'), 409, /idempotency key/)
      expectRefusal(await create(app, IDLE, 'another'), refusal)
      expectRefusal(await create(app), refusal)
    }
    await app.call('PUT', `/v1/projects/${project}`, { wedges: [] })
    await expectReplay(403)
    await app.call('PUT', `/v1/projects/${project}`, { wedges: null })
    rmSync(join(app.dir, 'wedges', IDLE.wedge), { recursive: true })
    await vi.waitUntil(() => app.ctx.wedges.get(IDLE.wedge) === undefined, { timeout: 180_000 })
    await expectReplay(400)
    const old = toIsoTime(app.clock.now() - DAY - 1)
    await app.ctx.db.updateTable('idempotency_keys').set({ created_at: old }).execute()
    expectRefusal(await create(app, IDLE, 'kept'), 400)
  })

  test('an idempotency key is kept for 24 hours', async () => {
    const app = shared()
    const setKeyAge = (ms: number) =>
      app.ctx.db
        .updateTable('idempotency_keys')
        .set({ created_at: toIsoTime(app.clock.now() - ms) })
        .where('key', '=', 'daily')
        .execute()
    const { body: task } = await create(app, IDLE, 'daily')
    await setKeyAge(DAY - 1)
    expect((await create(app, IDLE, 'daily')).body.id).toBe(task.id)
    await setKeyAge(DAY + 1)
    const next = await create(app, { ...IDLE, input: 'another' }, 'daily')
    expect(next).toMatchObject({ status: 201, body: { input: 'another' } })
    expect(next.body.id).not.toBe(task.id)
    expect(next.headers.get('idempotency-replayed')).toBeNull()
  })

  test('an idempotency key belongs to one project', async () => {
    const app = shared()
    const ada = { email: 'ada@example.com', password: 'long enough password' }
    const { session_token: key } = (await app.call('POST', '/v1/auth/signup', ada)).body
    const { body: project } = await app.call('POST', '/v1/projects', { name: 'Second' }, { key })
    const headers = { 'idempotency-key': 'shared' }
    const first = await app.call('POST', '/v1/tasks', IDLE, { headers })
    const otherProject = { key, headers: { ...headers, 'x-svc-project': project.id } }
    const second = await app.call('POST', '/v1/tasks', { ...IDLE, input: 1 }, otherProject)
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body).toMatchObject({ project_id: project.id, input: 1 })
  })

  test.each([
    ['empty', ''],
    ['longer than 255 characters', 'x'.repeat(256)],
    ['not printable', 'tab\there'],
    ['not ASCII', 'schl\u00fcssel'],
  ])('an idempotency key that is %s returns 400', async (_, key) => {
    const before = await listTaskIds(shared())
    expectRefusal(await create(shared(), IDLE, key), 400, /idempotency-key/)
    expect(await listTaskIds(shared())).toEqual(before)
  })

  test('an idempotency key can have 255 characters', async () => {
    expect((await create(shared(), IDLE, 'k'.repeat(255))).status).toBe(201)
  })

  test('the rate limit is a sliding window of 60 seconds', async () => {
    const app = await testApp({ store, wedges: DESK_WEDGES, env: { SVC_TASK_RATE_PER_MIN: '3' } })
    const statuses: number[] = []
    for (const second of [0, 10, 20, 50, 60, 61, 70, 79, 80, 120]) {
      await app.clock.advance(second * 1000 - (app.clock.now() - Date.parse('2026-03-02T09:00:00.000Z')))
      statuses.push((await create(app)).status)
    }
    expect(statuses).toEqual([201, 201, 201, 429, 201, 429, 201, 429, 201, 201])
  })
})

eachStore((store) => {
  const shared = sharedApp({ store, wedges: DESK_WEDGES, env: NO_RATE_LIMIT })

  test('fifty concurrent requests with one idempotency key create one task', async () => {
    const app = shared()
    const responses = await Promise.all(Array.from({ length: 50 }, () => create(app, IDLE, 'once')))
    expect(countByStatus(responses)).toEqual({ 201: 50 })
    const ids = new Set(responses.map(({ body }) => body.id))
    expect([...ids]).toEqual(await listTaskIds(app))
    const first = responses.filter(({ headers }) => headers.get('idempotency-replayed') === null)
    expect(first).toHaveLength(1)
    expect(new Set(responses.map(({ headers }) => headers.get('location')))).toEqual(
      new Set([`/v1/tasks/${[...ids][0]}`]),
    )
    const { body: audit } = await app.call('GET', '/v1/audit')
    expect(audit.data.filter(({ action }: { action: string }) => action === 'task.created')).toHaveLength(1)
  })

  test('a burst of 130 creations gets exactly 120 × 201 and 10 × 429, and a minute later 120 × 201 again', async () => {
    const app = await testApp({ store, wedges: DESK_WEDGES })
    const responses = await createMany(130, app)
    expect(countByStatus(responses)).toEqual({ 201: 120, 429: 10 })
    for (const response of responses.filter(({ status }) => status === 429)) {
      expectRefusal(response, 429)
      expect(response.headers.get('retry-after')).toBe('60')
    }
    expect(await listTaskIds(app)).toHaveLength(120)
    await app.clock.advance(59_999)
    expect((await create(app)).headers.get('retry-after')).toBe('1')
    await app.clock.advance(1)
    expect(countByStatus(await createMany(121, app))).toEqual({ 201: 120, 429: 1 })
  })

  test('replays and refused requests do not count against the rate limit', async () => {
    const app = await testApp({ store, wedges: DESK_WEDGES, env: { SVC_TASK_RATE_PER_MIN: '2' } })
    await create(app, IDLE, 'first')
    expect(countByStatus(await Promise.all([1, 2, 3, 4].map(() => create(app, IDLE, 'first'))))).toEqual({ 201: 4 })
    expect((await create(app, { wedge: 'unknown', task_type: 'x' })).status).toBe(400)
    expect((await create(app, { ...IDLE, input: 1 }, 'first')).status).toBe(409)
    expect((await create(app, IDLE, 'second')).status).toBe(201)
    expect((await create(app, IDLE, 'third')).status).toBe(429)
    expect((await create(app, IDLE, 'first')).status).toBe(201)
    await app.clock.advance(60_000)
    // The key of a refused request is not stored.
    expect((await create(app, IDLE, 'third')).headers.get('idempotency-replayed')).toBeNull()
  })
})

test('the rate limit and idempotency keys hold across two replicas on PostgreSQL', async () => {
  const one = await testApp({ store: 'postgres', wedges: DESK_WEDGES })
  const env = { DATABASE_URL: one.ctx.config.databaseUrl ?? '' }
  const two = await startTestApp({ store: 'postgres', wedges: DESK_WEDGES, env })
  onTestFinished(() => two.stop())
  const same = await Promise.all([one, two, one, two].map((app) => create(app, IDLE, 'once')))
  expect(new Set(same.map(({ body }) => body.id)).size).toBe(1)
  expect(countByStatus(await createMany(129, one, two))).toEqual({ 201: 119, 429: 10 })
})

test('three replicas get each idempotency key twice: exactly 120 tasks are created, in shared commits', async () => {
  const one = await testApp({ store: 'postgres', wedges: DESK_WEDGES })
  const env = { DATABASE_URL: one.ctx.config.databaseUrl ?? '' }
  const others = await Promise.all([1, 2].map(() => startTestApp({ store: 'postgres', wedges: DESK_WEDGES, env })))
  for (const other of others) onTestFinished(() => other.stop())
  const replicas = [one, ...others]
  const responses = await Promise.all(
    Array.from({ length: 300 }, (_, i) => create(replicas[i % 3] as TestApp, IDLE, `key ${i % 150}`)),
  )
  // The second request of a created task is a replay, which does not count; both requests of the other keys are refused.
  expect(countByStatus(responses)).toEqual({ 201: 240, 429: 60 })
  const created = responses.flatMap(({ status, body }) => (status === 201 ? [body.id] : []))
  expect(new Set(created)).toEqual(new Set(await listTaskIds(one)))
  const { rows } = await sql<{ keys: number; commits: number }>`
    select count(*) as keys, count(distinct xmin::text) as commits from idempotency_keys`.execute(one.ctx.db)
  expect(rows[0]?.keys).toBe(120)
  expect(rows[0]?.commits).toBeLessThan(60)
})

test('a rate limit of one allows one of thirty concurrent creations on two replicas', async () => {
  const one = await testApp({ store: 'postgres', wedges: DESK_WEDGES, env: { SVC_TASK_RATE_PER_MIN: '1' } })
  const env = { DATABASE_URL: one.ctx.config.databaseUrl ?? '', SVC_TASK_RATE_PER_MIN: '1' }
  const two = await startTestApp({ store: 'postgres', wedges: DESK_WEDGES, env })
  onTestFinished(() => two.stop())
  expect(countByStatus(await createMany(30, one, two))).toEqual({ 201: 1, 429: 29 })
  await one.clock.advance(60_000)
  await two.clock.advance(60_000)
  expect(countByStatus(await createMany(30, one, two))).toEqual({ 201: 1, 429: 29 })
})
