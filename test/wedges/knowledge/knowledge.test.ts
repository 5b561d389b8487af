import { expect, test } from 'vitest'
import { eachStore } from '../../app.ts'
import {
  disableWedges,
  firstProjectId,
  knowledgeApps,
  signUpOtherOrganisation,
  wedgeAuditActions,
} from './knowledge-app.ts'

eachStore((store) => {
  const openApp = knowledgeApps({ store })

  test('a knowledge item is created, read, listed, changed and deleted, with audit entries', async () => {
    const app = await openApp()
    const created = await app.call('POST', `${app.path}/knowledge`, { name: 'hours', content: 'Nine to five.' })
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`/v1/knowledge/${created.body.id}`)
    expect(created.body).toEqual({
      id: expect.stringMatching(/^kn_[0-9a-z]{26}$/),
      project_id: await firstProjectId(app),
      wedge: app.wedge,
      name: 'hours',
      content: 'Nine to five.',
      kind: 'note',
      source: null,
      metadata: {},
      task_id: null,
      version: 1,
      created_at: expect.stringMatching(/Z$/),
      updated_at: created.body.created_at,
    })
    const path = `/v1/knowledge/${created.body.id}`
    expect((await app.call('GET', path)).body).toEqual(created.body)
    expect((await app.call('GET', `${app.path}/knowledge`)).body).toEqual({ data: [created.body], next_cursor: null })

    await app.clock.advance(1000)
    const change = { content: 'Nine to six.', kind: 'fact', source: 'opening hours', metadata: { checked: true } }
    const changed = await app.call('PUT', path, change)
    expect(changed.status).toBe(200)
    expect(changed.body).toEqual({ ...created.body, ...change, version: 2, updated_at: expect.any(String) })
    expect(changed.body.updated_at > created.body.updated_at).toBe(true)
    expect((await app.call('PUT', path, {})).body).toEqual(changed.body)

    expect((await app.call('DELETE', path)).status).toBe(204)
    expect(await app.call('GET', path)).toMatchObject({ status: 404, body: { error: 'no such knowledge item' } })
    expect((await app.call('DELETE', path)).status).toBe(404)
    const audit = (await wedgeAuditActions(app)).filter((action) => action.startsWith('knowledge.'))
    expect(audit).toEqual(['knowledge.created', 'knowledge.updated', 'knowledge.deleted'])
  })

  test('earlier versions stay readable, newest first, with their author', async () => {
    const app = await openApp()
    const { body: item } = await app.call('POST', `${app.path}/knowledge`, { name: 'n', content: 'one' })
    await Promise.all(['two', 'three'].map((content) => app.call('PUT', `/v1/knowledge/${item.id}`, { content })))
    const { body } = await app.call('GET', `/v1/knowledge/${item.id}/revisions`)
    expect(body.data.map(({ version }: { version: number }) => version)).toEqual([3, 2, 1])
    const contents = body.data.map(({ content }: { content: string }) => content)
    expect(new Set(contents)).toEqual(new Set(['one', 'two', 'three']))
    expect(body.data[2]).toEqual({
      version: 1,
      name: 'n',
      content: 'one',
      kind: 'note',
      by: { kind: 'key', id: expect.stringMatching(/^key_/) },
      at: expect.any(String),
    })
    const first = await app.call('GET', `/v1/knowledge/${item.id}/revisions?limit=2`)
    expect(first.body).toMatchObject({ data: [{ version: 3 }, { version: 2 }], next_cursor: '2' })
    const second = await app.call('GET', `/v1/knowledge/${item.id}/revisions?limit=2&cursor=2`)
    expect(second.body).toMatchObject({ data: [{ version: 1 }], next_cursor: null })
    expect((await app.call('GET', '/v1/knowledge/kn_absent/revisions')).status).toBe(404)
  })

  test('knowledge is listed newest first, in pages, and can be filtered by kind', async () => {
    const app = await openApp()
    const ids: string[] = []
    for (const kind of ['note', 'fact', 'correction', 'feedback', 'answer', 'seed']) {
      const { body } = await app.call('POST', `${app.path}/knowledge`, { name: kind, content: 'x', kind })
      ids.unshift(body.id)
    }
    ids.sort().reverse()
    const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id)
    const first = (await app.call('GET', `${app.path}/knowledge?limit=4`)).body
    const second = (await app.call('GET', `${app.path}/knowledge?limit=4&cursor=${first.next_cursor}`)).body
    expect([...idsOf(first), ...idsOf(second)]).toEqual(ids)
    expect(second.next_cursor).toBeNull()
    const facts = (await app.call('GET', `${app.path}/knowledge?kind=fact`)).body
    expect(facts.data).toMatchObject([{ name: 'fact' }])
    expect((await app.call('GET', `${app.path}/knowledge?kind=gossip`)).status).toBe(400)
  })

  test('missing fields, wrong types and unknown kinds are 400', async () => {
    const app = await openApp()
    const { body: item } = await app.call('POST', `${app.path}/knowledge`, { name: 'n', content: 'c' })
    const wrong: [object, string][] = [
      [{ name: 1, content: 'x' }, "field 'name' must be a string"],
      [{ name: ' ', content: 'x' }, "field 'name' must not be empty"],
      [{ name: 'x', content: 'x', metadata: [] }, "field 'metadata' must be an object"],
      [
        { name: 'x', content: 'x', kind: 'gossip' },
        "field 'kind' must be one of note, fact, correction, feedback, answer, seed",
      ],
    ]
    for (const [body, error] of wrong) {
      const refused = { status: 400, body: { error } }
      expect(await app.call('POST', `${app.path}/knowledge`, body)).toMatchObject(refused)
      expect(await app.call('PUT', `/v1/knowledge/${item.id}`, body)).toMatchObject(refused)
    }
    const nameless = await app.call('POST', `${app.path}/knowledge`, { content: 'x' })
    expect(nameless).toMatchObject({ status: 400, body: { error: "field 'name' is required" } })
    const empty = await app.call('POST', `${app.path}/knowledge`, { name: 'x' })
    expect(empty).toMatchObject({ status: 400, body: { error: "field 'content' is required" } })
    expect((await app.call('GET', `${app.path}/knowledge`)).body.data).toEqual([item])
  })

  test('the knowledge of another organisation is 404', async () => {
    const app = await openApp()
    const other = await signUpOtherOrganisation(app)
    const { body: item } = await app.call('POST', `${app.path}/knowledge`, { name: 'secret', content: 'ours' })
    const path = `/v1/knowledge/${item.id}`
    const denied = { status: 404, body: { error: 'no such knowledge item' } }
    expect(await app.call('GET', path, undefined, other)).toMatchObject(denied)
    expect(await app.call('GET', `${path}/revisions`, undefined, other)).toMatchObject(denied)
    expect(await app.call('PUT', path, { kind: 'gossip' }, other)).toMatchObject(denied)
    expect(await app.call('DELETE', path, undefined, other)).toMatchObject(denied)
    expect((await app.call('GET', `${app.path}/knowledge`, undefined, other)).body.data).toEqual([])
    expect((await app.call('GET', app.path, undefined, other)).body.knowledge.live).toEqual([])
    expect((await app.call('GET', path)).body).toEqual(item)
  })

  test('knowledge of an unknown wedge is 404, and adding to a wedge that is not enabled is 403', async () => {
    const app = await openApp()
    const unknown = { status: 404, body: { error: 'no such wedge' } }
    expect(await app.call('GET', '/v1/wedges/absent/knowledge')).toMatchObject(unknown)
    expect(await app.call('POST', '/v1/wedges/absent/knowledge', {})).toMatchObject(unknown)
    await disableWedges(app)
    expect(await app.call('POST', `${app.path}/knowledge`, {})).toMatchObject({
      status: 403,
      body: { error: `wedge '${app.wedge}' is not enabled for this project` },
    })
    expect((await app.call('GET', `${app.path}/knowledge`)).status).toBe(200)
  })
})
