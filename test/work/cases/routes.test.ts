import { describe, expect, test } from 'vitest'
import { changeCaseByAgent, readCaseForAgent } from '../../../src/work/cases/agent-access.ts'
import { ECHO_WEDGE, eachStore, sharedApp, type TestApp } from '../../app.ts'

const WEDGES = {
  ...ECHO_WEDGE,
  'claims/wedge.json': {
    wedge: 'claims',
    task_types: { assess: {} },
    cases: { stages: ['new', 'assessing', 'paid'], initial: 'new' },
  },
  'claims/rehearsals/assess.json': [{ output: {} }],
}

eachStore((store) => {
  const shared = sharedApp({ store, wedges: WEDGES })
  const call: TestApp['call'] = (...request) => shared().call(...request)
  const open = async (fields: object = {}) => (await call('POST', '/v1/cases', { wedge: 'claims', ...fields })).body
  const newClient = async () => (await call('POST', '/v1/clients', { display_name: 'Ada' })).body.id

  describe('a case', () => {
    test('a case opens at the initial stage of its wedge', async () => {
      const { status, body, headers } = await call('POST', '/v1/cases', { wedge: 'claims', title: 'Water damage' })
      expect(status).toBe(201)
      expect(headers.get('location')).toBe(`/v1/cases/${body.id}`)
      expect(body).toMatchObject({
        wedge: 'claims',
        title: 'Water damage',
        stage: 'new',
        status: 'open',
        client_id: null,
        data: {},
        task_ids: [],
        closed_at: null,
      })
      expect(body.history).toEqual([{ from: null, to: 'new', at: body.created_at, by: expect.anything(), note: null }])
      expect((await call('GET', `/v1/cases/${body.id}`)).body).toEqual(body)
    })

    test('a case moves between all stages of its wedge, and each move is in its history', async () => {
      const { id } = await open()
      await shared().clock.advance(1000)
      await call('PUT', `/v1/cases/${id}`, { stage: 'paid', note: 'by hand' })
      const { status, body } = await call('PUT', `/v1/cases/${id}`, { stage: 'assessing', data: { sum: 5 } })
      expect(status).toBe(200)
      expect(body).toMatchObject({ stage: 'assessing', data: { sum: 5 } })
      expect(body.history.map(({ from, to, note }: Record<string, unknown>) => [from, to, note])).toEqual([
        [null, 'new', null],
        ['new', 'paid', 'by hand'],
        ['paid', 'assessing', null],
      ])
      expect(body.updated_at > body.created_at).toBe(true)
    })

    test('fields that an update leaves out keep their values and add no history', async () => {
      const { id, history } = await open({ title: 'Old', data: { a: 1 } })
      const { body } = await call('PUT', `/v1/cases/${id}`, { title: 'New' })
      expect(body).toMatchObject({ title: 'New', data: { a: 1 }, stage: 'new', status: 'open', history })
    })

    test('a closed case refuses new tasks with 409 until it is reopened', async () => {
      const { id } = await open()
      const closed = await call('PUT', `/v1/cases/${id}`, { status: 'closed' })
      expect(closed.body).toMatchObject({ status: 'closed', closed_at: expect.any(String) })
      expect(closed.body.history.at(-1)).toMatchObject({ from: 'new', to: 'new', note: 'closed' })
      const refused = await call('POST', `/v1/cases/${id}/tasks`, { task_type: 'assess' })
      expect(refused).toMatchObject({ status: 409, body: { error: 'case is closed' } })
      const reopened = await call('PUT', `/v1/cases/${id}`, { status: 'open' })
      expect(reopened.body).toMatchObject({ status: 'open', closed_at: null })
      expect((await call('POST', `/v1/cases/${id}/tasks`, { task_type: 'assess' })).status).toBe(201)
    })

    test('a closed case refuses retries of its tasks until it is reopened', async () => {
      const { id } = await open()
      const task = (await call('POST', `/v1/cases/${id}/tasks`, { task_type: 'assess' })).body
      await call('POST', `/v1/tasks/${task.id}/cancel`)
      await call('PUT', `/v1/cases/${id}`, { status: 'closed' })
      const refused = await call('POST', `/v1/tasks/${task.id}/retry`)
      expect(refused).toMatchObject({ status: 409, body: { error: 'case is closed' } })
      await call('PUT', `/v1/cases/${id}`, { status: 'open' })
      const again = await call('POST', `/v1/tasks/${task.id}/retry`)
      expect(again).toMatchObject({ status: 201, body: { retry_of: task.id, case_id: id } })
    })

    test('tasks of a case have its wedge and client, and are listed newest first', async () => {
      const client_id = await newClient()
      const { id } = await open({ client_id })
      const first = await call('POST', `/v1/cases/${id}/tasks`, { task_type: 'assess', input: { n: 1 } })
      expect(first.status).toBe(201)
      expect(first.headers.get('location')).toBe(`/v1/tasks/${first.body.id}`)
      expect(first.body).toMatchObject({ wedge: 'claims', case_id: id, client_id, input: { n: 1 } })
      await shared().clock.advance(1)
      const second = await call('POST', `/v1/cases/${id}/tasks`, { task_type: 'assess' })
      expect((await call('GET', `/v1/cases/${id}`)).body.task_ids).toEqual([second.body.id, first.body.id])
    })

    test('a case shows its newest 200 changes and tasks, alone and in a list', async () => {
      const { id } = await open()
      const other = await open()
      const { db } = shared().ctx
      const task = (await call('POST', `/v1/cases/${id}/tasks`, { task_type: 'assess' })).body
      await shared().finished(task.id)
      const row = await db.selectFrom('tasks').selectAll().where('id', '=', task.id).executeTakeFirstOrThrow()
      const change = await db.selectFrom('case_history').selectAll().where('case_id', '=', id).executeTakeFirstOrThrow()
      for (let n = 1; n <= 210; n++) {
        await db
          .insertInto('tasks')
          .values({ ...row, id: `${task.id}${String(n).padStart(3, '0')}` })
          .execute()
        await db
          .insertInto('case_history')
          .values({ ...change, n: change.n + n, note: `${n}` })
          .execute()
      }
      const one = (await call('GET', `/v1/cases/${id}`)).body
      expect([one.task_ids.length, one.task_ids[0], one.history.length]).toEqual([200, `${task.id}210`, 200])
      expect([one.history[0].note, one.history.at(-1).note]).toEqual(['11', '210'])
      const { data } = (await call('GET', '/v1/cases?limit=200')).body
      const listed = Object.fromEntries(data.map((shown: { id: string }) => [shown.id, shown]))
      expect(listed[id]).toEqual(one)
      expect(listed[other.id]).toMatchObject({ task_ids: [], history: [{ from: null }] })
    })

    test('a concurrent close and creation leave no task that was created after the close', async () => {
      const { id } = await open()
      const spawn = () => call('POST', `/v1/cases/${id}/tasks`, { task_type: 'assess' })
      const close = () => call('PUT', `/v1/cases/${id}`, { status: 'closed' })
      const responses = await Promise.all([spawn(), spawn(), close(), spawn(), spawn()])
      const made = responses.filter(({ status }) => status === 201).length
      expect((await call('GET', `/v1/cases/${id}`)).body.task_ids).toHaveLength(made)
      expect(responses.every(({ status }) => [200, 201, 409].includes(status))).toBe(true)
      expect((await spawn()).status).toBe(409)
    })

    test('concurrent moves are all in the history', async () => {
      const { id } = await open()
      const moves = Array.from({ length: 10 }, (_, n) => call('PUT', `/v1/cases/${id}`, { note: `n${n}` }))
      await Promise.all(moves)
      expect((await call('GET', `/v1/cases/${id}`)).body.history).toHaveLength(11)
    })
  })

  test.each([
    [{ wedge: 'claims', stage: 'lost' }, "unknown stage 'lost' of wedge 'claims'; known are new, assessing, paid"],
    [{ wedge: 'echo' }, "wedge 'echo' has no cases"],
    [{ wedge: 'nothing' }, "unknown wedge 'nothing'"],
    [{ wedge: 'claims', client_id: 'cli_nobody' }, "unknown client 'cli_nobody'"],
    [{ wedge: 'claims', data: [] }, "field 'data' must be an object"],
    [{}, "field 'wedge' is required"],
  ])('opening a case with %j returns 400', async (body, error) => {
    expect(await call('POST', '/v1/cases', body)).toMatchObject({ status: 400, body: { error } })
  })

  test('an unknown stage or status returns 400, and an unknown case 404', async () => {
    const { id } = await open()
    expect((await call('PUT', `/v1/cases/${id}`, { stage: 'lost' })).status).toBe(400)
    expect((await call('PUT', `/v1/cases/${id}`, { status: 'lost' })).status).toBe(400)
    expect(await call('PUT', '/v1/cases/case_0', { status: 3 })).toMatchObject({
      status: 404,
      body: { error: 'no such case' },
    })
    expect((await call('POST', '/v1/cases/case_0/tasks', {})).status).toBe(404)
    expect((await call('POST', `/v1/cases/${id}/tasks`, { task_type: 'nothing' })).status).toBe(400)
  })

  test('the list of cases is newest first and filters by wedge, status, stage and client', async () => {
    const client_id = await newClient()
    const ids: string[] = []
    for (const stage of ['new', 'assessing', 'paid']) {
      await shared().clock.advance(1)
      ids.unshift((await open({ client_id, stage })).id)
    }
    await call('PUT', `/v1/cases/${ids[0]}`, { status: 'closed' })
    const list = async (query: string) =>
      (await call('GET', `/v1/cases?client_id=${client_id}${query}`)).body.data.map((row: { id: string }) => row.id)
    expect(await list('')).toEqual(ids)
    expect(await list('&wedge=claims&status=open')).toEqual(ids.slice(1))
    expect(await list('&stage=new')).toEqual(ids.slice(2))
    expect(await list('&wedge=echo')).toEqual([])
    expect((await call('GET', '/v1/cases?status=lost')).status).toBe(400)
    const { body } = await call('GET', `/v1/cases?client_id=${client_id}&limit=2`)
    expect(await list(`&cursor=${body.next_cursor}`)).toEqual(ids.slice(2))
  })

  describe('the agent of a task', () => {
    const actor = { kind: 'task', id: 'task_1' } as const

    test('the agent reads and changes the case of its task', async () => {
      const { ctx } = shared()
      const { id } = await open()
      const moved = await changeCaseByAgent(
        ctx,
        id,
        { stage: 'assessing', data: { seen: true }, note: 'read it' },
        actor,
      )
      expect(moved).toMatchObject({ stage: 'assessing', data: { seen: true } })
      expect(moved.history.at(-1)).toMatchObject({ by: actor, note: 'read it' })
      expect(await readCaseForAgent(ctx, id)).toEqual(moved)
      await expect(changeCaseByAgent(ctx, id, { stage: 'lost' }, actor)).rejects.toThrow("unknown stage 'lost'")
    })

    test('the agent gets 404 without a case and 409 for a closed case', async () => {
      const { ctx } = shared()
      await expect(readCaseForAgent(ctx, null)).rejects.toThrow('no such case')
      const { id } = await open()
      await call('PUT', `/v1/cases/${id}`, { status: 'closed' })
      await expect(changeCaseByAgent(ctx, id, { status: 'open' }, actor)).rejects.toThrow('case is closed')
    })
  })
})
