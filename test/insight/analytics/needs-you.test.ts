import { expect, test } from 'vitest'
import { anyStore, sharedApp } from '../../app.ts'

const WEDGES = {
  'desk/wedge.json': {
    wedge: 'desk',
    connections: ['post'],
    approvals: [{ action: 'post:send', risk: 'medium', required: true }],
    task_types: { send: {}, ask: {} },
  },
  'desk/rehearsals/send.json': [
    { call: { tool: 'act', input: { connection: 'post', capability: 'post:send', payload: { to: 'Ada' } } } },
    { output: {} },
  ],
  'desk/rehearsals/ask.json': [
    { call: { tool: 'ask_person', input: { question: 'Which branch?', to: 'team' } } },
    { output: {} },
  ],
}

const NO_COUNTS = {
  approval: 0,
  question: 0,
  conversation: 0,
  expired_task: 0,
  lost_secrets: 0,
  connection: 0,
  channel: 0,
  schedule: 0,
  intake: 0,
}
const NO_PARTS = { approval: null, task: null }

anyStore((store) => {
  const app = sharedApp({ store, wedges: WEDGES, env: { SVC_OPEN_SIGNUP: '1' } })
  const create = async (path: string, body: object) => (await app().call('POST', path, body)).body
  const needsYou = async (key?: string) =>
    (await app().call('GET', '/v1/needs-you', undefined, key === undefined ? {} : { key })).body
  const kindsOf = async () => (await needsYou()).data.map(({ kind, id }: { kind: string; id: string }) => [kind, id])

  test('it lists approvals, questions, unanswered clients, expired tasks, failures and questions of runs', async () => {
    const { db } = app().ctx
    const connection = await create('/v1/connections', {
      kind: 'webhook',
      name: 'post',
      config: { url: 'https://post.example/' },
    })
    expect(await needsYou()).toEqual({ data: [], counts: NO_COUNTS, has_more: false })

    const waiting = []
    for (const task_type of ['send', 'ask', 'send']) {
      const task = await create('/v1/tasks', { wedge: 'desk', task_type })
      await app().events(task.id, { until: ({ event }) => event === 'approval.requested' })
      const [approval] = (await app().call('GET', `/v1/approvals?task_id=${task.id}`)).body.data
      waiting.push({ task: task.id, approval: approval.approval_id })
      await app().clock.advance(1)
    }
    const [send, ask, late] = waiting
    const channel = await create('/v1/channels', {
      connection_id: connection.id,
      address: 'help@example.com',
      wedge: 'desk',
      task_type: 'ask',
    })
    const cadence = { kind: 'daily', hour: 8, minute: 0 }
    const schedule = await create('/v1/schedules', { name: 'daily', wedge: 'desk', task_type: 'ask', cadence })
    await app().call('POST', `/v1/tasks/${late?.task}/cancel`)

    const since = '2026-03-02T09:00:00.000Z'
    await db.updateTable('tasks').set({ status: 'expired' }).where('id', '=', `${late?.task}`).execute()
    await db
      .updateTable('connections')
      .set({ last_error: 'connection refused', last_error_at: since })
      .where('id', '=', connection.id)
      .execute()
    await db.updateTable('schedules').set({ last_error: 'no such wedge' }).where('id', '=', schedule.id).execute()
    const projectId: string = connection.project_id
    const question = { project_id: projectId, wedge: 'desk', kind: 'gap', why: 'To quote.', task_id: null }
    const times = { answer: null, knowledge_id: null, created_at: since, updated_at: since }
    for (const [id, status, asked] of [
      ['gap-1', 'open', 2],
      ['gap-2', 'answered', 1],
      ['gap-3', 'open', 0],
    ] as const) {
      const row = { ...question, ...times, id, question_id: id, question: 'What is the price?', status, asked }
      await db.insertInto('intake_questions').values(row).execute()
    }
    const inbound = await create(`/v1/channels/${channel.id}/inbound`, {
      from: { handle: 'grace@example.com' },
      body: 'Hello?',
    })
    await app().call('POST', `/v1/tasks/${inbound.task_id}/cancel`)
    await db
      .updateTable('threads')
      .set({ unanswered_at: since, unanswered_reason: 'failed' })
      .where('id', '=', inbound.thread_id)
      .execute()

    // A message that arrives clears the error of its channel.
    await db
      .updateTable('channels')
      .set({ last_error: 'wrong password', last_error_at: since })
      .where('id', '=', channel.id)
      .execute()

    expect(await kindsOf()).toEqual([
      ['approval', send?.approval],
      ['question', ask?.approval],
      ['conversation', inbound.thread_id],
      ['expired_task', late?.task],
      ['connection', connection.id],
      ['channel', channel.id],
      ['schedule', schedule.id],
      ['intake', 'gap-1'],
    ])
    const { data, counts } = await needsYou()
    const once = Object.fromEntries(Object.keys(NO_COUNTS).map((kind) => [kind, 1]))
    expect(counts).toEqual({ ...once, lost_secrets: 0 })
    expect(data[0]).toMatchObject({ title: 'post:send', approval: { approval_id: send?.approval }, task: null })
    expect(data[2]).toMatchObject({ title: 'grace@example.com', detail: 'failed', since, ...NO_PARTS })
    expect(data[3]).toMatchObject({ title: 'send', task: { id: late?.task }, approval: null })
    expect(data[4]).toMatchObject({ title: 'post', detail: 'connection refused', since, ...NO_PARTS })
    expect(data[7]).toMatchObject({ title: 'What is the price?', detail: 'To quote.', wedge: 'desk' })

    const account = { email: 'other@example.com', password: 'correct horse battery', organisation: 'Other' }
    const other = (await app().call('POST', '/v1/auth/signup', account, { key: null })).body.session_token
    expect(await needsYou(other)).toEqual({ data: [], counts: NO_COUNTS, has_more: false })

    await app().call('POST', `/v1/approvals/${send?.approval}/reject`)
    await create(`/v1/tasks/${late?.task}/retry`, {})
    const left = (await kindsOf()).map(([kind]: string[]) => kind)
    expect(left).not.toContain('expired_task')
    expect(await kindsOf()).not.toContainEqual(['approval', send?.approval])
  })

  test('connections that lost their secret with the key are one item, and not failing ones too', async () => {
    const { db } = app().ctx
    const before = await needsYou()
    const config = { api_url: 'https://crm.example/' }
    const ids = []
    for (const name of ['crm', 'erp']) {
      const { id } = await create('/v1/connections', { kind: 'custom', name, config })
      await create(`/v1/connections/${id}/secret`, { value: 'hush' })
      ids.push(id)
    }
    expect(await needsYou()).toEqual(before)
    // As after a restart with another key.
    for (const row of await db.selectFrom('vault').selectAll().execute()) {
      const envelope = JSON.stringify({ ...JSON.parse(row.envelope), kid: '0123456789abcdef' })
      await db.updateTable('vault').set({ envelope }).where('key', '=', row.key).execute()
    }
    await app().call('POST', `/v1/connections/${ids[0]}/test`)
    const { body } = await app().call('GET', `/v1/connections/${ids[0]}`)
    expect(body).toMatchObject({ status: 'needs_secret', last_error: expect.stringContaining('another key') })

    const lostSecrets = async () => {
      const { data, counts } = await needsYou()
      expect(counts).toEqual({ ...before.counts, lost_secrets: 1 })
      return data.find(({ kind }: { kind: string }) => kind === 'lost_secrets')
    }
    const both = { id: body.project_id, title: '2 connections lost their secret', detail: 'crm, erp', ...NO_PARTS }
    expect(await lostSecrets()).toMatchObject(both)
    await create(`/v1/connections/${ids[0]}/secret`, { value: 'hush' })
    expect((await app().call('GET', `/v1/connections/${ids[0]}`)).body).toMatchObject({ last_error: null })
    expect(await lostSecrets()).toMatchObject({ title: '1 connection lost its secret', detail: 'erp' })
    await create(`/v1/connections/${ids[1]}/secret`, { value: 'hush' })
    expect(await needsYou()).toEqual(before)
  })

  test('the hook of a channel that lost its secret answers 503, and the channel is in the item of lost secrets', async () => {
    const { db } = app().ctx
    const before = await needsYou()
    const { id: connection_id } = await create('/v1/connections', { kind: 'custom', name: 'slack', config: {} })
    const address = 'C0123456789'
    const channel = await create('/v1/channels', {
      adapter: 'slack',
      connection_id,
      address,
      wedge: 'desk',
      task_type: 'ask',
    })
    const setSecret = () => create(`/v1/channels/${channel.id}/secret`, { value: 'hush' })
    await setSecret()
    const row = await db.selectFrom('vault').selectAll().where('key', '=', channel.id).executeTakeFirstOrThrow()
    const envelope = JSON.stringify({ ...JSON.parse(row.envelope), kid: '0123456789abcdef' })
    await db.updateTable('vault').set({ envelope }).where('key', '=', channel.id).execute()
    const hook = await app().call('POST', `/v1/hooks/${channel.id}`, {}, { key: null })
    const error = 'the secret of this channel cannot be opened: set it again'
    expect(hook).toMatchObject({ status: 503, body: { error } })
    const { data, counts } = await needsYou()
    expect(data[0]).toMatchObject({ kind: 'lost_secrets', title: '1 channel lost its secret', detail: address })
    expect(counts).toEqual({ ...before.counts, lost_secrets: 1 })
    await setSecret()
    expect(await needsYou()).toEqual(before)
    expect((await app().call('GET', `/v1/channels/${channel.id}`)).body.last_error).toBeNull()
  })

  test('it counts all items of a kind of which it shows the first 50', async () => {
    const { db } = app().ctx
    const before = await needsYou()
    const [question] = await db.selectFrom('approvals').selectAll().where('status', '=', 'pending').execute()
    const rows = Array.from({ length: 60 }, (_, n) => `apr_${String(n).padStart(26, '0')}`).map((id) => ({
      ...(question ?? expect.unreachable('the question of the test before')),
      id,
      path: 'tool',
    }))
    await db.insertInto('approvals').values(rows).execute()
    const { data, counts, has_more } = await needsYou()
    expect(data.filter(({ approval }: { approval: object | null }) => approval)).toHaveLength(50)
    expect(counts).toEqual({ ...before.counts, approval: before.counts.approval + 60 })
    expect(has_more).toBe(true)
  })
})
