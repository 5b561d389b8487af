import { expect, test } from 'vitest'
import { tokenHash } from '../../../src/platform/base/tokens.ts'
import { eachStore, testApp } from '../../app.ts'
import { addMember, auditActions, PASSWORD, signUpOwner } from './members.ts'

eachStore((store) => {
  test('every credential except a founder key or session gets the same 401', async () => {
    const app = await testApp({ store })
    const project = (await app.call('GET', '/v1/projects')).body.data[0].id
    // The prefix decides: a client's token is refused even if its hash is that of a key.
    const clientToken = 'svc_cst_0123456789012345678901234567890123456789012'
    const row = {
      id: 'key_foreign',
      project_id: project,
      name: 'x',
      role: 'admin',
      hash: tokenHash(clientToken),
      hint: '',
    }
    await app.ctx.store.transact((db) =>
      db
        .insertInto('keys')
        .values({ ...row, created_at: '', last_used_at: null })
        .execute(),
    )
    const headers: Record<string, string>[] = [
      {},
      { authorization: '' },
      { authorization: 'Bearer' },
      { authorization: `Basic ${app.key}` },
      { authorization: app.key },
      { authorization: `Bearer ${app.key} x` },
      { authorization: `Bearer ${app.key}x` },
      { authorization: 'Bearer svc_key_' },
      { authorization: 'Bearer svc_fst_unknown' },
      ...['svc_cst_', 'svc_plt_', 'svc_tsk_', 'svc_gat_', 'svc_inv_', 'sk-'].map((prefix) => ({
        authorization: `Bearer ${prefix}${app.key.slice(8)}`,
      })),
      { authorization: `Bearer ${clientToken}` },
    ]
    for (const credential of headers) {
      const { status, body, headers } = await app.call('GET', '/v1/projects', undefined, {
        key: null,
        headers: credential,
      })
      expect({ status, body }).toEqual({ status: 401, body: { error: 'a valid credential is required' } })
      expect(headers.get('www-authenticate')).toBe('Bearer')
    }
    const lower = await app.call('GET', '/v1/projects', undefined, {
      key: null,
      headers: { authorization: `bearer ${app.key}` },
    })
    expect(lower.status).toBe(200)
  })

  test('an API key can access only its own project, regardless of the project header', async () => {
    const app = await testApp({ store })
    const session = await signUpOwner(app)
    const second = await app.call('POST', '/v1/projects', { name: 'Second' }, { key: session })
    const [own] = (await app.call('GET', '/v1/projects')).body.data
    expect((await app.call('GET', '/v1/projects')).body.data).toEqual([own])
    for (const name of [own.id, own.slug]) {
      expect((await app.call('GET', '/v1/projects', undefined, { headers: { 'x-svc-project': name } })).status).toBe(
        200,
      )
    }
    for (const name of [second.body.id, 'second', 'absent', '']) {
      const response = await app.call('GET', '/v1/projects', undefined, { headers: { 'x-svc-project': name } })
      expect(response).toMatchObject({ status: 404, body: { error: 'no such project' } })
    }
    for (const id of [second.body.id, 'prj_absent']) {
      for (const [method, body] of [
        ['GET', undefined],
        ['PUT', { name: 7 }],
      ] as const) {
        const response = await app.call(method, `/v1/projects/${id}`, body)
        expect(response).toMatchObject({ status: 404, body: { error: 'no such project' } })
      }
    }
  })

  test('a member with several projects must name one to write, and may name one to read', async () => {
    const app = await testApp({ store, env: { SVC_OPEN_SIGNUP: '1' } })
    const key = await signUpOwner(app)
    // With one project the header is optional.
    expect((await app.call('POST', '/v1/keys', { name: 'one' }, { key })).status).toBe(201)
    const second = (await app.call('POST', '/v1/projects', { name: 'Second' }, { key })).body
    const unnamed = await app.call('POST', '/v1/keys', { name: 7 }, { key })
    expect(unnamed).toMatchObject({ status: 400, body: { error: "header 'x-svc-project' is required" } })
    for (const name of [second.id, 'second']) {
      const created = await app.call('POST', '/v1/keys', { name: 'two' }, { key, headers: { 'x-svc-project': name } })
      expect(created).toMatchObject({ status: 201, body: { project_id: second.id } })
    }
    const all = await app.call('GET', '/v1/keys', undefined, { key })
    expect(all.body.data).toHaveLength(4)
    const narrowed = await app.call('GET', '/v1/keys', undefined, { key, headers: { 'x-svc-project': 'second' } })
    expect(narrowed.body.data).toHaveLength(2)
    const email = 'other@example.com'
    const otherOwner = await app.call('POST', '/v1/auth/signup', { email, password: PASSWORD }, { key: null })
    for (const headers of [{ 'x-svc-project': second.id }, { 'x-svc-project': 'second' }]) {
      const response = await app.call('GET', '/v1/keys', undefined, { key: otherOwner.body.session_token, headers })
      expect(response).toMatchObject({ status: 404, body: { error: 'no such project' } })
    }
  })

  test('a role that is too low gets 403 before the body is validated', async () => {
    const app = await testApp({ store })
    const owner = await signUpOwner(app)
    const tokens: Record<string, string> = { owner }
    for (const role of ['admin', 'operator', 'viewer'] as const)
      tokens[role] = (await addMember(app, owner, role)).session
    const reads = ['/v1/projects', '/v1/keys', '/v1/members']
    const writes = [
      ['POST', '/v1/projects'],
      ['PUT', '/v1/projects/prj_absent'],
      ['POST', '/v1/keys'],
      ['DELETE', '/v1/keys/key_absent'],
      ['POST', '/v1/members'],
      ['PUT', '/v1/members/mem_absent'],
      ['DELETE', '/v1/members/mem_absent'],
    ] as const
    for (const [role, key] of Object.entries(tokens)) {
      for (const path of reads) expect((await app.call('GET', path, undefined, { key })).status).toBe(200)
      for (const [method, path] of writes) {
        const { status, body } = await app.call(method, path, method === 'DELETE' ? undefined : { name: 7 }, { key })
        if (role === 'operator' || role === 'viewer') {
          expect({ status, body }).toEqual({ status: 403, body: { error: `role '${role}' cannot do this` } })
        } else expect(status).toBe(path.endsWith('absent') ? 404 : 400)
      }
    }
  })

  test('enabling a wedge keeps the others, also under concurrent changes, and changes nothing if all are enabled', async () => {
    const names = ['one', 'two', 'three', 'four', 'five']
    const wedges = names.map((wedge) => [`${wedge}/wedge.json`, { wedge, task_types: { say: {} } }])
    const app = await testApp({ store, wedges: Object.fromEntries(wedges) })
    const { id } = (await app.call('GET', '/v1/projects')).body.data[0]
    const enable = (wedge: string) => app.call('PUT', `/v1/projects/${id}/wedges/${wedge}`)
    expect(await enable('one')).toMatchObject({ status: 200, body: { id, wedges: null } })
    await app.call('PUT', `/v1/projects/${id}`, { wedges: ['one', 'gone'] })
    for (const { status } of await Promise.all(names.map(enable))) expect(status).toBe(200)
    const { body } = await app.call('GET', `/v1/projects/${id}`)
    expect(body.wedges).toHaveLength(6)
    expect(new Set(body.wedges)).toEqual(new Set(['gone', ...names]))
    expect((await enable('two')).body).toEqual(body)
    expect(await enable('nowhere')).toMatchObject({ status: 404, body: { error: 'no such wedge' } })
    const unknownProject = await app.call('PUT', '/v1/projects/prj_elsewhere/wedges/one')
    expect(unknownProject).toMatchObject({ status: 404, body: { error: 'no such project' } })
  })

  test('a project can change its name, tier and wedges, and keeps its slug', async () => {
    const app = await testApp({ store })
    const key = await signUpOwner(app)
    const created = await app.call('POST', '/v1/projects', { name: 'Café & Co' }, { key })
    expect(created.headers.get('location')).toBe(`/v1/projects/${created.body.id}`)
    expect(created).toMatchObject({ status: 201, body: { slug: 'cafe-co', tier: 'default', wedges: null } })
    const path = `/v1/projects/${created.body.id}`
    const wedges = { ...created.body, name: 'New', wedges: ['refunds'] }
    expect((await app.call('PUT', path, { name: 'New', wedges: ['refunds'] }, { key })).body).toEqual(wedges)
    expect((await app.call('PUT', path, { tier: 'pro' }, { key })).body).toEqual({ ...wedges, tier: 'pro' })
    expect((await app.call('GET', path, undefined, { key })).body).toEqual({ ...wedges, tier: 'pro' })
    expect((await app.call('PUT', path, { wedges: null }, { key })).body.wedges).toBeNull()
    expect((await app.call('PUT', path, {}, { key })).status).toBe(200)
    expect((await app.call('PUT', path, { wedges: ['../x'] }, { key })).body.error).toMatch(
      /^field 'wedges\.0' must be a slug/,
    )
    expect(await auditActions(app, created.body.id)).toEqual(Array(4).fill('project.updated'))
  })

  test('projects created concurrently with one name get different slugs', async () => {
    const app = await testApp({ store })
    const key = await signUpOwner(app)
    const created = await Promise.all(
      [1, 2, 3, 4, 5].map(() => app.call('POST', '/v1/projects', { name: 'Same' }, { key })),
    )
    expect(created.map(({ status }) => status)).toEqual(Array(5).fill(201))
    expect(new Set(created.map(({ body }) => body.slug))).toEqual(
      new Set(['same', 'same-2', 'same-3', 'same-4', 'same-5']),
    )
    const list = await app.call('GET', '/v1/projects?limit=4', undefined, { key })
    const rest = await app.call('GET', `/v1/projects?limit=4&cursor=${list.body.next_cursor}`, undefined, { key })
    expect([...list.body.data, ...rest.body.data]).toHaveLength(6)
    expect(rest.body.next_cursor).toBeNull()
  })
})
