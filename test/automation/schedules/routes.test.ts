import { describe, expect, test } from 'vitest'
import type { Ctx } from '../../../src/platform/ctx/ctx.ts'
import { fireDueSchedules } from '../../../src/automation/schedules/fire-schedules.ts'
import { undoClockSkew } from '../../../src/automation/schedules/undo-clock-skew.ts'
import { ECHO_WEDGE, eachStore, sharedApp, type TestApp } from '../../app.ts'

const WEDGES = {
  ...ECHO_WEDGE,
  'claims/wedge.json': { wedge: 'claims', task_types: { assess: {} }, cases: { stages: ['new'], initial: 'new' } },
  'claims/rehearsals/assess.json': [{ output: {} }],
  'orders/wedge.json': {
    wedge: 'orders',
    task_types: {
      check: { input_schema: { type: 'object', required: ['order'], properties: { order: { type: 'string' } } } },
      count: {},
    },
  },
  'orders/rehearsals/check.json': [{ output: {} }],
  'orders/rehearsals/count.json': [{ output: {} }],
}
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const morning = { name: 'Morning', wedge: 'echo', task_type: 'say', cadence: { kind: 'daily', hour: 8, minute: 30 } }

const cron = (fields: object = {}) => ({ kind: 'cron', expr: '30 9 * * *', tz: 'Europe/Berlin', ...fields })
const FIVE_FIELDS = "must have five cron fields (minute, hour, day, month, weekday), such as '30 9 * * 1-5'"

eachStore((store) => {
  const shared = sharedApp({ store, wedges: WEDGES })
  const call: TestApp['call'] = (...request) => shared().call(...request)
  const create = async (fields: object = {}) => (await call('POST', '/v1/schedules', { ...morning, ...fields })).body
  const read = async (id: string) => (await call('GET', `/v1/schedules/${id}`)).body
  const tasksOf = (id: string) =>
    shared().ctx.db.selectFrom('tasks').selectAll().where('schedule_id', '=', id).orderBy('id').execute()
  /** Fires due schedules with a context whose clock is later by `ms`. */
  const fireLater = async (ms: number) => {
    const ctx = ahead(shared().ctx, ms)
    await undoClockSkew(ctx)
    return fireDueSchedules(ctx)
  }
  const later = (ms: number) => new Date(shared().clock.now() + ms).toISOString()

  describe('a schedule', () => {
    test('a schedule is created enabled, with its next due time', async () => {
      const { status, body, headers } = await call('POST', '/v1/schedules', { ...morning, input: { a: 1 } })
      expect(status).toBe(201)
      expect(headers.get('location')).toBe(`/v1/schedules/${body.id}`)
      expect(body).toMatchObject({ ...morning, input: { a: 1 }, enabled: true, last_run_at: null, last_error: null })
      expect(body.next_run_at).toMatch(/T08:30:00\.000Z$/)
      expect(body.next_run_at > later(0)).toBe(true)
      expect(await read(body.id)).toEqual(body)
      expect((await call('GET', '/v1/schedules')).body.data).toContainEqual(body)
    })

    test('a disabled schedule has no due time, and enabling it does not fire missed ones', async () => {
      const { id } = await create({ enabled: false, cadence: { kind: 'every', seconds: 60 } })
      expect(await read(id)).toMatchObject({ enabled: false, next_run_at: null })
      await shared().clock.advance(5 * MINUTE + 1000)
      const { body } = await call('PUT', `/v1/schedules/${id}`, { enabled: true })
      expect(body.next_run_at).toBe(later(59_000))
      await fireLater(58_000)
      expect(await tasksOf(id)).toEqual([])
      await call('DELETE', `/v1/schedules/${id}`)
    })

    test('a schedule of a disabled or removed wedge can be changed and disabled, but not enabled', async () => {
      const { body: projects } = await call('GET', '/v1/projects')
      const path = `/v1/projects/${projects.data[0].id}`
      const { id } = await create()
      const ofRemovedWedge = await create()
      await shared()
        .ctx.db.updateTable('schedules')
        .set({ wedge: 'gone' })
        .where('id', '=', ofRemovedWedge.id)
        .execute()
      await call('PUT', path, { wedges: [] })
      for (const schedule of [id, ofRemovedWedge.id]) {
        const same = { wedge: (await read(schedule)).wedge, task_type: 'say' }
        const off = await call('PUT', `/v1/schedules/${schedule}`, { ...same, name: 'Evening', enabled: false })
        expect(off).toMatchObject({ status: 200, body: { name: 'Evening', enabled: false, next_run_at: null } })
      }
      const disabled = { status: 403, body: { error: "wedge 'echo' is not enabled for this project" } }
      expect(await call('PUT', `/v1/schedules/${id}`, { enabled: true })).toMatchObject(disabled)
      const unknown = { status: 400, body: { error: "unknown wedge 'gone'" } }
      expect(await call('PUT', `/v1/schedules/${ofRemovedWedge.id}`, { enabled: true })).toMatchObject(unknown)
      expect(await call('PUT', `/v1/schedules/${id}`, { task_type: 'checked' })).toMatchObject(disabled)
      await call('PUT', path, { wedges: null })
    })

    test('an update keeps the fields that it leaves out, and a new cadence counts from now', async () => {
      const before = await create({ input: 'x' })
      await shared().clock.advance(MINUTE)
      const { body } = await call('PUT', `/v1/schedules/${before.id}`, { name: 'Evening' })
      expect(body).toEqual({ ...before, name: 'Evening', updated_at: later(0) })
      const cadence = { kind: 'every', seconds: 90 }
      const changed = await call('PUT', `/v1/schedules/${before.id}`, { cadence })
      expect(changed.body).toMatchObject({ cadence, input: 'x', next_run_at: later(90_000) })
    })

    test('a cron cadence fires at the local time of its zone, and missed due times fire once', async () => {
      const cadence = cron({ expr: '30 9 * * 1-5', tz: 'America/New_York' })
      // Friday before the clocks of New York go forward.
      shared().clock.set(Date.parse('2026-03-06T14:00:00.000Z'))
      const { id, ...created } = await create({ cadence })
      expect(created).toMatchObject({ cadence, next_run_at: '2026-03-06T14:30:00.000Z' })
      await fireLater(30 * MINUTE)
      expect((await read(id)).next_run_at).toBe('2026-03-09T13:30:00.000Z')
      await fireLater(7 * DAY)
      expect(await read(id)).toMatchObject({ next_run_at: '2026-03-16T13:30:00.000Z' })
      expect(await tasksOf(id)).toHaveLength(2)
      const { body } = await call('PUT', `/v1/schedules/${id}`, { cadence: cron({ expr: '0 8  1 */3 MON' }) })
      expect(body.next_run_at).toBe('2026-04-01T06:00:00.000Z')
      await call('DELETE', `/v1/schedules/${id}`)
    })

    test('the input is checked against the schema of the task type, on create and on change', async () => {
      const orders = { wedge: 'orders', task_type: 'check' }
      const invalid = { status: 400, body: { error: 'input.order must be string, not integer' } }
      const notObject = (type: string) => ({ status: 400, body: { error: `input must be object, not ${type}` } })
      expect(await call('POST', '/v1/schedules', { ...morning, ...orders, input: { order: 1 } })).toMatchObject(invalid)
      expect(await call('POST', '/v1/schedules', { ...morning, ...orders })).toMatchObject(notObject('null'))
      const { id } = await create({ ...orders, input: { order: 'A-1' } })
      expect(await call('PUT', `/v1/schedules/${id}`, { input: { order: 2 } })).toMatchObject(invalid)
      expect((await call('PUT', `/v1/schedules/${id}`, { input: { order: 'A-2' } })).status).toBe(200)
      expect((await call('PUT', `/v1/schedules/${id}`, { task_type: 'count', input: 7 })).status).toBe(200)
      expect(await call('PUT', `/v1/schedules/${id}`, { task_type: 'check' })).toMatchObject(notObject('integer'))
      expect(await read(id)).toMatchObject({ task_type: 'count', input: 7 })
    })

    test('a deleted schedule returns 404, and its tasks are kept', async () => {
      const { id } = await create()
      const { body: task } = await call('POST', `/v1/schedules/${id}/run`)
      expect((await call('DELETE', `/v1/schedules/${id}`)).status).toBe(204)
      expect(await call('GET', `/v1/schedules/${id}`)).toMatchObject({
        status: 404,
        body: { error: 'no such schedule' },
      })
      expect((await call('GET', `/v1/tasks/${task.id}`)).body.schedule_id).toBe(id)
    })

    test('a manual run works for a disabled schedule too and keeps the due times', async () => {
      const before = await create({ enabled: false, input: { hello: 1 } })
      const { status, body, headers } = await call('POST', `/v1/schedules/${before.id}/run`)
      expect(status).toBe(201)
      expect(headers.get('location')).toBe(`/v1/tasks/${body.id}`)
      expect(body).toMatchObject({ wedge: 'echo', task_type: 'say', input: { hello: 1 }, schedule_id: before.id })
      expect(await read(before.id)).toEqual({ ...before, last_run_at: body.created_at, last_task_id: body.id })
    })
  })

  test.each([
    [{ wedge: 'nothing' }, "unknown wedge 'nothing'"],
    [{ task_type: 'nothing' }, "unknown task type 'nothing' of wedge 'echo'"],
    [{ name: '' }, "field 'name' must not be empty"],
    [{ cadence: undefined }, "field 'cadence' is required"],
    [{ cadence: { kind: 'weekly' } }, "field 'cadence.kind' must be one of every, daily, monthly, cron"],
    [{ cadence: {} }, "field 'cadence.kind' is required: one of every, daily, monthly, cron"],
    [{ cadence: { kind: 'every', seconds: 0 } }, "field 'cadence.seconds' must be at least 1"],
    [{ cadence: { kind: 'daily', hour: 24, minute: 0 } }, "field 'cadence.hour' must be at most 23"],
    [{ cadence: cron({ expr: '@daily' }) }, `field 'cadence.expr' ${FIVE_FIELDS}`],
    [{ cadence: cron({ expr: '0 30 9 * * *' }) }, `field 'cadence.expr' ${FIVE_FIELDS}`],
    [{ cadence: cron({ expr: '30 24 * * *' }) }, `field 'cadence.expr' ${FIVE_FIELDS}: the hour '24' is not valid`],
    [{ cadence: cron({ expr: '30 9 * * mo' }) }, `field 'cadence.expr' ${FIVE_FIELDS}: the weekday 'mo' is not valid`],
    [
      { cadence: cron({ expr: '0 0 30 2 *' }) },
      "field 'cadence.expr' must have a day that exists: this expression never fires",
    ],
    [{ cadence: cron({ expr: '*'.repeat(201) }) }, "field 'cadence.expr' must have at most 200 characters"],
    [{ cadence: { kind: 'cron', tz: 'UTC' } }, "field 'cadence.expr' is required"],
    [{ cadence: { kind: 'cron', expr: '30 9 * * *' } }, "field 'cadence.tz' is required"],
    [{ cadence: cron({ tz: 'Berlin' }) }, "field 'cadence.tz' must be an IANA time zone, such as 'Europe/Berlin'"],
    [{ cadence: cron({ tz: '+02:00' }) }, "field 'cadence.tz' must be an IANA time zone, such as 'Europe/Berlin'"],
    [{ client_id: 'cli_nobody' }, "unknown client 'cli_nobody'"],
    [{ case_id: 'case_nothing' }, "unknown case 'case_nothing'"],
  ])('a schedule with %j returns 400', async (fields, error) => {
    expect(await call('POST', '/v1/schedules', { ...morning, ...fields })).toMatchObject({
      status: 400,
      body: { error },
    })
  })

  describe('a schedule on a case', () => {
    const assess = { wedge: 'claims', task_type: 'assess' }
    const client = async () => (await call('POST', '/v1/clients', {})).body.id
    const caseOf = async (client_id: string | null) =>
      (await call('POST', '/v1/cases', { wedge: 'claims', client_id })).body.id
    const refused = { status: 400, body: { error: 'case does not belong to the client of the schedule' } }

    test('a schedule on a case runs for the client of the case', async () => {
      const client_id = await client()
      const case_id = await caseOf(client_id)
      for (const named of [client_id, null]) {
        const { id } = await create({ ...assess, case_id, client_id: named })
        expect((await call('POST', `/v1/schedules/${id}/run`)).body).toMatchObject({ case_id, client_id })
      }
    })

    test('a schedule on a case cannot be for another client', async () => {
      const [client_id, case_id] = [await client(), await caseOf(await client())]
      const both = { ...morning, ...assess, client_id, case_id }
      expect(await call('POST', '/v1/schedules', both)).toMatchObject(refused)
      expect(await call('POST', '/v1/schedules', { ...both, case_id: await caseOf(null) })).toMatchObject(refused)
      const { id } = await create({ ...assess, client_id })
      expect(await call('PUT', `/v1/schedules/${id}`, { case_id })).toMatchObject(refused)
      const other = await create({ ...assess, case_id })
      expect(await call('PUT', `/v1/schedules/${other.id}`, { client_id })).toMatchObject(refused)
    })

    test('a schedule on a case cannot have another wedge, even by concurrent changes', async () => {
      const case_id = await caseOf(null)
      for (let n = 0; n < 5; n++) {
        const path = `/v1/schedules/${(await create(assess)).id}`
        const changes = [{ case_id }, { wedge: 'echo', task_type: 'say' }]
        const responses = await Promise.all(changes.map((change) => call('PUT', path, change)))
        expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400])
      }
    })

    test('a stored schedule with the client or wedge of another case creates no task', async () => {
      const [client_id, case_id] = [await client(), await caseOf(await client())]
      const cadence = { kind: 'every', seconds: 60 }
      for (const [fields, error] of [
        [{ client_id }, refused.body.error],
        [{ wedge: 'echo', task_type: 'say' }, "case belongs to wedge 'claims', not 'echo'"],
      ] as const) {
        const { id } = await create({ ...assess, cadence, case_id })
        await shared().ctx.db.updateTable('schedules').set(fields).where('id', '=', id).execute()
        expect(await call('POST', `/v1/schedules/${id}/run`)).toMatchObject({ status: 400, body: { error } })
        await fireLater(MINUTE)
        expect(await read(id)).toMatchObject({ last_error: error, last_task_id: null })
        expect(await tasksOf(id)).toEqual([])
        await call('DELETE', `/v1/schedules/${id}`)
      }
    })
  })

  describe('a due time', () => {
    test('a due time creates one task, even with concurrent sweeps', async () => {
      const { id, next_run_at } = await create({ input: { n: 1 } })
      await Promise.all(Array.from({ length: 8 }, () => fireLater(24 * HOUR)))
      const tasks = await tasksOf(id)
      expect(tasks).toHaveLength(1)
      expect(tasks[0]).toMatchObject({ wedge: 'echo', input: '{"n":1}', schedule_id: id })
      const after = await read(id)
      expect(after).toMatchObject({ last_task_id: tasks[0]?.id, last_error: null })
      expect(after.next_run_at > next_run_at).toBe(true)
    })

    test('several missed due times fire once', async () => {
      const { id } = await create({ cadence: { kind: 'every', seconds: 600 } })
      await fireLater(5 * HOUR + MINUTE)
      await fireLater(5 * HOUR + MINUTE)
      expect(await tasksOf(id)).toHaveLength(1)
      expect((await read(id)).next_run_at).toBe(later(5 * HOUR + 10 * MINUTE))
      await call('DELETE', `/v1/schedules/${id}`)
    })

    test('a due time that cannot create a task stores the error, and the schedule continues', async () => {
      const { body: kase } = await call('POST', '/v1/cases', { wedge: 'claims' })
      const cadence = { kind: 'every', seconds: 60 }
      const { id } = await create({ wedge: 'claims', task_type: 'assess', case_id: kase.id, cadence })
      await call('PUT', `/v1/cases/${kase.id}`, { status: 'closed' })
      await fireLater(MINUTE)
      const failed = { last_error: 'case is closed', last_task_id: null, next_run_at: later(2 * MINUTE) }
      expect(await read(id)).toMatchObject(failed)
      expect((await call('POST', `/v1/schedules/${id}/run`)).status).toBe(409)
      await call('PUT', `/v1/cases/${kase.id}`, { status: 'open' })
      await fireLater(2 * MINUTE)
      const [task] = await tasksOf(id)
      expect(await read(id)).toMatchObject({ last_error: null, last_task_id: task?.id })
      expect((await call('GET', `/v1/cases/${kase.id}`)).body.task_ids).toEqual([task?.id])
      await call('DELETE', `/v1/schedules/${id}`)
    })

    test('a due time fires after the clock was ahead and is correct again', async () => {
      const { id, next_run_at } = await create()
      const disabled = await create({ enabled: false })
      await fireLater(30 * DAY)
      const { db } = shared().ctx
      // Enabled while the clock was ahead.
      const switched = { enabled: 1, next_run_at: later(31 * DAY), updated_at: later(30 * DAY) } as const
      await db.updateTable('schedules').set(switched).where('id', '=', disabled.id).execute()
      await fireLater(0)
      expect(await read(id)).toMatchObject({ next_run_at })
      expect(await read(disabled.id)).toMatchObject({ next_run_at })
      // The due time of tomorrow already fired while the clock was ahead.
      for (let day = 1; day <= 10; day++) await fireLater(day * DAY)
      expect(await tasksOf(id)).toHaveLength(10)
      expect(await tasksOf(disabled.id)).toHaveLength(10)
      for (const one of [id, disabled.id]) await call('DELETE', `/v1/schedules/${one}`)
    })

    test('a due time that has fired does not fire again after the clock was behind', async () => {
      const { id, next_run_at } = await create()
      const fresh = await create({ cadence: { kind: 'monthly', day: 28, hour: 8, minute: 30 } })
      await fireLater(DAY)
      const atRest = await read(id)
      for (const days of [-400, -20]) {
        await fireLater(days * DAY)
        expect((await read(id)).next_run_at < next_run_at).toBe(true)
        await fireLater(DAY + MINUTE)
        expect(await read(id)).toEqual(atRest)
        expect(await read(fresh.id)).toEqual(fresh)
      }
      await fireLater(2 * DAY)
      expect(await tasksOf(id)).toHaveLength(2)
      for (const one of [id, fresh.id]) await call('DELETE', `/v1/schedules/${one}`)
    })

    test('a due time of a disabled wedge stores the error', async () => {
      const { id } = await create({ cadence: { kind: 'every', seconds: 60 } })
      const { body: projects } = await call('GET', '/v1/projects')
      const path = `/v1/projects/${projects.data[0].id}`
      await call('PUT', path, { wedges: [] })
      await fireLater(MINUTE)
      await call('PUT', path, { wedges: null })
      expect((await read(id)).last_error).toBe("wedge 'echo' is not enabled for this project")
      await call('DELETE', `/v1/schedules/${id}`)
    })
  })
})

function ahead(ctx: Ctx, ms: number): Ctx {
  const now = ctx.world.clock.now() + ms
  return { ...ctx, world: { ...ctx.world, clock: { ...ctx.world.clock, now: () => now, after: () => () => {} } } }
}
