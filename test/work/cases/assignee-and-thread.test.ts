import { expect, test } from 'vitest'
import { anyStore, sharedApp, type TestApp } from '../../app.ts'

const WEDGES = {
  'claims/wedge.json': {
    wedge: 'claims',
    task_types: { assess: {} },
    cases: { stages: ['new', 'paid'], initial: 'new' },
  },
  'claims/rehearsals/assess.json': [{ output: {} }],
}

anyStore((store) => {
  const shared = sharedApp({ store, wedges: WEDGES, env: { SVC_OPEN_SIGNUP: '1' } })
  const call: TestApp['call'] = (...request) => shared().call(...request)
  const open = async (fields: object = {}) => (await call('POST', '/v1/cases', { wedge: 'claims', ...fields })).body

  /** Signs up the owner of a new organisation. */
  const signUp = async (email: string) => {
    const account = { email, password: 'correct horse battery', organisation: 'Other' }
    const key: string = (await call('POST', '/v1/auth/signup', account, { key: null })).body.session_token
    const { member } = (await call('GET', '/v1/auth/session', undefined, { key })).body
    return { key, id: member.id as string }
  }

  /** A message to a channel, which creates a client and a thread. */
  const receive = async (handle: string) => {
    const connection_id = (await call('POST', '/v1/connections', { kind: 'email', name: `mail-${handle}` })).body.id
    const channel = { connection_id, address: 'help@example.com', wedge: 'claims', task_type: 'assess' }
    const { id } = (await call('POST', '/v1/channels', channel)).body
    return (await call('POST', `/v1/channels/${id}/inbound`, { from: { handle }, body: 'Hello' })).body
  }

  test('a case is assigned to a member, found by its assignee, and unassigned', async () => {
    const other = await signUp('other@example.com')
    const invited = await call(
      'POST',
      '/v1/members',
      { email: 'ada@example.com', role: 'operator' },
      { key: other.key },
    )
    expect(invited.status).toBe(201)
    const own = { key: other.key }
    const { id } = (await call('POST', '/v1/cases', { wedge: 'claims' }, own)).body
    const assigned = await call('PUT', `/v1/cases/${id}`, { assignee_id: other.id }, own)
    expect(assigned.body).toMatchObject({ assignee: { id: other.id, name: 'other@example.com' } })
    expect(assigned.body.history.at(-1)).toMatchObject({
      from: 'new',
      to: 'new',
      note: 'assigned to other@example.com',
      by: { kind: 'member', id: other.id, name: 'other@example.com' },
    })
    const idsOf = async (query: string) =>
      (await call('GET', `/v1/cases?${query}`, undefined, own)).body.data.map((row: { id: string }) => row.id)
    expect(await idsOf('assignee_id=me')).toEqual([id])
    expect(await idsOf(`assignee_id=${other.id}&status=open`)).toEqual([id])
    expect(await idsOf(`assignee_id=${invited.body.member.id}`)).toEqual([])

    const foreign = await open()
    expect(await call('PUT', `/v1/cases/${foreign.id}`, { assignee_id: other.id })).toMatchObject({
      status: 400,
      body: { error: `unknown member '${other.id}'` },
    })
    const again = await call('PUT', `/v1/cases/${id}`, { assignee_id: other.id, title: 'Same' }, own)
    expect(again.body.history).toHaveLength(assigned.body.history.length)
    const freed = await call('PUT', `/v1/cases/${id}`, { assignee_id: null }, own)
    expect(freed.body).toMatchObject({ assignee: null })
    expect(freed.body.history.at(-1)).toMatchObject({ note: 'unassigned' })
  })

  test('a case about a conversation belongs to the client of the conversation', async () => {
    const grace = await receive('grace@example.com')
    const ada = await receive('ada@example.com')
    const created = await open({ thread_id: grace.thread_id })
    expect(created).toMatchObject({ thread_id: grace.thread_id, client_id: grace.client_id })
    const { data } = (await call('GET', `/v1/cases?thread_id=${grace.thread_id}`)).body
    expect(data).toEqual([created])
    expect((await call('GET', `/v1/cases?thread_id=${ada.thread_id}`)).body.data).toEqual([])

    const refusal = { status: 400, body: { error: 'thread belongs to another client than the case' } }
    expect(await call('PUT', `/v1/cases/${created.id}`, { thread_id: ada.thread_id })).toMatchObject(refusal)
    const both = { wedge: 'claims', client_id: ada.client_id, thread_id: grace.thread_id }
    expect(await call('POST', '/v1/cases', both)).toMatchObject(refusal)
    expect((await call('POST', '/v1/cases', { wedge: 'claims', thread_id: 'thr_0' })).body.error).toBe(
      "unknown thread 'thr_0'",
    )

    const files = await Promise.all(
      ['a.txt', 'b.txt', 'c.txt'].map(
        async (name) => (await call('POST', `/v1/files?name=${name}`, undefined, { raw: name })).body.id,
      ),
    )
    const [ofTask, ofMessage] = files
    await call('POST', `/v1/cases/${created.id}/tasks`, { task_type: 'assess', files: [ofTask] })
    const sent = { body: 'See the file.', files: [ofMessage] }
    expect((await call('POST', `/v1/threads/${grace.thread_id}/messages`, sent)).status).toBe(201)
    const listed = (await call('GET', `/v1/cases/${created.id}/files`)).body.data
    expect(new Set(listed.map((file: { id: string }) => file.id))).toEqual(new Set([ofTask, ofMessage]))

    const { id } = await open()
    expect((await call('GET', `/v1/cases/${id}/files`)).body).toEqual({ data: [] })
    const linked = await call('PUT', `/v1/cases/${id}`, { thread_id: ada.thread_id })
    expect(linked.body).toMatchObject({ thread_id: ada.thread_id, client_id: ada.client_id })
    const unlinked = await call('PUT', `/v1/cases/${id}`, { thread_id: null })
    expect(unlinked.body).toMatchObject({ thread_id: null, client_id: ada.client_id })
  })
})
