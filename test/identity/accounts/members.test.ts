import { expect, test } from 'vitest'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { toIsoTime } from '../../../src/platform/ctx/world.ts'
import { anyStore, eachStore, testApp } from '../../app.ts'
import { openTableLock } from '../../faults/table-lock.ts'
import { openStream } from '../../work/events/stream-reader.ts'
import { addMember, auditActions, countByStatus, PASSWORD, signUpOwner } from './members.ts'

const DAY = 24 * 60 * 60_000

anyStore((store) => {
  test('an invite is shown once, can be accepted once, and creates a member with its role', async () => {
    const app = await testApp({ store })
    const key = await signUpOwner(app)
    const sent = await app.call('POST', '/v1/members', { email: 'Op@Example.com', role: 'operator' }, { key })
    expect(sent.status).toBe(201)
    expect(sent.headers.get('location')).toBe(`/v1/members/${sent.body.member.id}`)
    expect(sent.body).toMatchObject({
      member: { email: 'op@example.com', role: 'operator', status: 'invited', name: null },
      invite: expect.stringMatching(/^svc_inv_/),
      expires_at: expect.any(String),
    })
    const early = await app.call('POST', '/v1/auth/login', { email: 'op@example.com', password: '' }, { key: null })
    expect(early.status).toBe(401)
    const body = { invite: sent.body.invite, password: PASSWORD, name: 'Op' }
    const accepts = await Promise.all([1, 2, 3].map(() => app.call('POST', '/v1/auth/accept', body, { key: null })))
    expect(countByStatus(accepts)).toEqual({ 200: 1, 401: 2 })
    const accepted = accepts.find(({ status }) => status === 200)
    expect(accepted?.body).toMatchObject({ member: { name: 'Op', role: 'operator', status: 'active' } })
    const session = await app.call('GET', '/v1/auth/session', undefined, { key: accepted?.body.session_token })
    expect(session.body.role).toBe('operator')
    const login = await app.call(
      'POST',
      '/v1/auth/login',
      { email: 'op@example.com', password: PASSWORD },
      { key: null },
    )
    expect(login.status).toBe(200)
    expect((await auditActions(app, login.body.organisation.id)).slice(3)).toEqual([
      'member.invited',
      'member.accepted',
      'member.signed_in',
      'member.signed_in',
    ])
  })

  test('an invite ends after seven days, when it is replaced and when it is withdrawn', async () => {
    const app = await testApp({ store })
    const key = await signUpOwner(app)
    const invite = async () =>
      (await app.call('POST', '/v1/members', { email: 'v@example.com', role: 'viewer' }, { key })).body
    const accept = async (token: string) =>
      (await app.call('POST', '/v1/auth/accept', { invite: token, password: PASSWORD }, { key: null })).status
    const first = await invite()
    const second = await invite()
    expect(second.member.id).toBe(first.member.id)
    expect(await accept(first.invite)).toBe(401)
    expect(Date.parse(second.expires_at)).toBe(app.clock.now() + 7 * DAY)
    const invite_expires_at = toIsoTime(app.clock.now())
    await inTx(app.ctx, (tx) => tx.db.updateTable('members').set({ invite_expires_at }).execute())
    expect(await accept(second.invite)).toBe(401)
    const third = await invite()
    expect((await app.call('DELETE', `/v1/members/${third.member.id}`, undefined, { key })).status).toBe(204)
    expect(await accept(third.invite)).toBe(401)
    const fourth = await invite()
    expect(await accept(fourth.invite)).toBe(200)
    const again = await app.call('POST', '/v1/members', { email: 'v@example.com', role: 'viewer' }, { key })
    expect(again).toMatchObject({ status: 409, body: { error: 'email is already in use' } })
  })

  test('an admin cannot invite, change or remove an owner', async () => {
    const app = await testApp({ store })
    const owner = await signUpOwner(app)
    const admin = await addMember(app, owner, 'admin')
    const ownerId = (await app.call('GET', '/v1/auth/session', undefined, { key: owner })).body.member.id
    const calls = [
      ['POST', '/v1/members', { email: 'x@example.com', role: 'owner' }],
      ['PUT', `/v1/members/${admin.id}`, { role: 'owner' }],
      ['PUT', `/v1/members/${ownerId}`, { role: 'viewer' }],
      ['PUT', `/v1/members/${ownerId}`, { name: 'Renamed' }],
      ['DELETE', `/v1/members/${ownerId}`, undefined],
    ] as const
    for (const [method, path, body] of calls) {
      const response = await app.call(method, path, body, { key: admin.session })
      expect(response).toMatchObject({ status: 403, body: { error: "role 'admin' cannot do this" } })
    }
    const invited = await app.call('POST', '/v1/members', { email: 'x@example.com', role: 'owner' }, { key: owner })
    expect(invited.status).toBe(201)
    const replaced = await app.call(
      'POST',
      '/v1/members',
      { email: 'x@example.com', role: 'viewer' },
      { key: admin.session },
    )
    expect(replaced.status).toBe(403)
  })

  test('the last owner can neither be removed nor demoted, and an open invite is not an owner', async () => {
    const app = await testApp({ store })
    const key = await signUpOwner(app)
    const { member } = (await app.call('GET', '/v1/auth/session', undefined, { key })).body
    await app.call('POST', '/v1/members', { email: 'later@example.com', role: 'owner' }, { key })
    const path = `/v1/members/${member.id}`
    for (const response of [
      await app.call('PUT', path, { role: 'admin' }, { key }),
      await app.call('DELETE', path, undefined, { key }),
    ]) {
      expect(response).toMatchObject({ status: 409, body: { error: 'the organisation must keep at least one owner' } })
    }
    expect((await app.call('PUT', path, { name: 'Ada' }, { key })).body).toEqual({ ...member, name: 'Ada' })
  })

  test('a new role applies from the next call, and a removed member gets 401', async () => {
    const app = await testApp({ store })
    const key = await signUpOwner(app)
    const { id, session } = await addMember(app, key, 'admin')
    const invite = (email: string) => app.call('POST', '/v1/members', { email, role: 'viewer' }, { key: session })
    expect((await invite('a@example.com')).status).toBe(201)
    const demoted = await app.call('PUT', `/v1/members/${id}`, { role: 'viewer' }, { key })
    expect(demoted).toMatchObject({ status: 200, body: { role: 'viewer' } })
    expect((await invite('b@example.com')).status).toBe(403)
    expect((await app.call('DELETE', `/v1/members/${id}`, undefined, { key })).status).toBe(204)
    expect((await invite('b@example.com')).status).toBe(401)
    const absent = await app.call('DELETE', `/v1/members/${id}`, undefined, { key })
    expect(absent).toMatchObject({ status: 404, body: { error: 'no such member' } })
  })

  test('streams of a member end when the member is removed, and stay open when the role changes', async () => {
    const app = await testApp({ store })
    const key = await signUpOwner(app)
    const { id, session } = await addMember(app, key, 'admin')
    const login = { email: 'admin-two@example.com', password: PASSWORD }
    const second = (await app.call('POST', '/v1/auth/login', login, { key: null })).body.session_token
    const streams = await Promise.all(
      [session, second].map((token) => openStream(`${app.url}/v1/stream`, { authorization: `Bearer ${token}` })),
    )
    await Promise.all(streams.map((reader) => reader.until(({ tail }) => tail.includes('ready'))))
    expect((await app.call('PUT', `/v1/members/${id}`, { role: 'viewer' }, { key })).status).toBe(200)
    const task = await app.createTask()
    await Promise.all(streams.map((reader) => reader.until(({ tail }) => tail.includes(task.id))))
    expect((await app.call('DELETE', `/v1/members/${id}`, undefined, { key })).status).toBe(204)
    await Promise.all(streams.map(({ ended }) => ended))
  })

  test('a leftover invite of an account with a password cannot be accepted', async () => {
    const app = await testApp({ store })
    const key = await signUpOwner(app)
    const { body } = await app.call('POST', '/v1/members', { email: 'bob@example.com', role: 'owner' }, { key })
    const { id } = await addMember(app, key, 'viewer')
    await inTx(app.ctx, async (tx) => {
      const invited = await tx.db
        .selectFrom('members')
        .selectAll()
        .where('id', '=', body.member.id)
        .executeTakeFirstOrThrow()
      const { invite_hash, invite_expires_at } = invited
      await tx.db.deleteFrom('members').where('id', '=', invited.id).execute()
      await tx.db.updateTable('members').set({ invite_hash, invite_expires_at }).where('id', '=', id).execute()
    })
    const accept = { invite: body.invite, password: 'the password of another' }
    expect((await app.call('POST', '/v1/auth/accept', accept, { key: null })).status).toBe(401)
  })

  test('the role of an open invite cannot be raised', async () => {
    const app = await testApp({ store })
    const owner = await signUpOwner(app)
    const admin = await addMember(app, owner, 'admin')
    const invite = (role: string, key: string) =>
      app.call('POST', '/v1/members', { email: 'bob@example.com', role }, { key })
    const { member, invite: oldInvite } = (await invite('operator', admin.session)).body
    const change = (body: object) => app.call('PUT', `/v1/members/${member.id}`, body, { key: owner })
    for (const role of ['owner', 'admin']) {
      const error = 'the role of an open invite cannot be raised: send a new invite'
      expect(await change({ role })).toMatchObject({ status: 409, body: { error } })
    }
    expect(await change({ name: 'Bob', role: 'operator' })).toMatchObject({ status: 200, body: { name: 'Bob' } })
    expect(await change({ role: 'viewer' })).toMatchObject({ status: 200, body: { role: 'viewer', status: 'invited' } })
    const accept = (token: string) =>
      app.call('POST', '/v1/auth/accept', { invite: token, password: PASSWORD }, { key: null })
    const replacement = await invite('owner', owner)
    expect(replacement).toMatchObject({ status: 201, body: { member: { id: member.id, role: 'owner' } } })
    expect((await accept(oldInvite)).status).toBe(401)
    expect(await accept(replacement.body.invite)).toMatchObject({ status: 200, body: { member: { role: 'owner' } } })
  })
})

eachStore((store) => {
  test('an open invite does not reserve its email: the first sign-up or acceptance gets it', async () => {
    const app = await testApp({ store, env: { SVC_OPEN_SIGNUP: '1' } })
    const owners = [await signUpOwner(app), await signUpOwner(app, 'second@example.com')]
    const inviteFromBoth = (email: string) =>
      Promise.all(
        owners.map(async (key) => {
          const { status, body } = await app.call('POST', '/v1/members', { email, role: 'viewer' }, { key })
          expect(status).toBe(201)
          return String(body.invite)
        }),
      )
    const accept = (invite: string | undefined) =>
      app.call('POST', '/v1/auth/accept', { invite, password: PASSWORD }, { key: null })
    const inUse = { status: 409, body: { error: 'email is already in use' } }

    const [first, second] = await inviteFromBoth('bob@example.com')
    await signUpOwner(app, 'bob@example.com')
    for (const invite of [first, second]) expect(await accept(invite)).toMatchObject(inUse)

    const responses = await Promise.all((await inviteFromBoth('eve@example.com')).map(accept))
    expect(countByStatus(responses)).toEqual({ 200: 1, 409: 1 })
    for (const key of owners) {
      const again = await app.call('POST', '/v1/members', { email: 'eve@example.com', role: 'viewer' }, { key })
      expect(again).toMatchObject(inUse)
    }
    const login = { email: 'eve@example.com', password: PASSWORD }
    expect((await app.call('POST', '/v1/auth/login', login, { key: null })).status).toBe(200)
  })

  test('two owners who demote each other concurrently leave one owner', async () => {
    const app = await testApp({ store })
    const first = await signUpOwner(app)
    const firstId = (await app.call('GET', '/v1/auth/session', undefined, { key: first })).body.member.id
    const second = await addMember(app, first, 'owner')
    await Promise.all([
      app.call('PUT', `/v1/members/${second.id}`, { role: 'viewer' }, { key: first }),
      app.call('PUT', `/v1/members/${firstId}`, { role: 'viewer' }, { key: second.session }),
    ])
    const members = (await app.call('GET', '/v1/members', undefined, { key: first })).body.data
    expect(members.filter(({ role }: { role: string }) => role === 'owner')).toHaveLength(1)
  })
})

test('a new invite sent while the old one is being accepted is refused', async () => {
  const app = await testApp({ store: 'postgres' })
  const key = await signUpOwner(app)
  const invite = () => app.call('POST', '/v1/members', { email: 'bob@example.com', role: 'operator' }, { key })
  const accept = (token: string) =>
    app.call('POST', '/v1/auth/accept', { invite: token, password: PASSWORD }, { key: null })
  const first = await invite()
  const { holdRow, waitForBlocked, release } = await openTableLock(app.ctx.config.databaseUrl ?? '')
  await holdRow('members', first.body.member.id)
  const accepting = accept(first.body.invite)
  await waitForBlocked(1)
  // Reads the member before it has a password, and waits for the lock to change it.
  const again = invite()
  await waitForBlocked(2)
  await release()
  expect((await accepting).status).toBe(200)
  expect(await again).toMatchObject({ status: 409, body: { error: 'email is already in use' } })
  const withInvite = await app.ctx.db.selectFrom('members').select('id').where('invite_hash', 'is not', null).execute()
  expect(withInvite).toEqual([])
})

test('a member who is removed while signing in is refused', async () => {
  const app = await testApp({ store: 'postgres' })
  const key = await signUpOwner(app)
  const { id } = await addMember(app, key, 'viewer', 'bob@example.com')
  const { hold, waitForBlocked, release } = await openTableLock(app.ctx.config.databaseUrl ?? '')
  await hold('sessions')
  const removing = app.call('DELETE', `/v1/members/${id}`, undefined, { key })
  await waitForBlocked(1)
  const signingIn = app.call('POST', '/v1/auth/login', { email: 'bob@example.com', password: PASSWORD }, { key: null })
  await waitForBlocked(2)
  await release()
  expect((await removing).status).toBe(204)
  expect(await signingIn).toMatchObject({ status: 401, body: { error: 'email or password is wrong' } })
})

test('a session created just before the member is removed is invalid', async () => {
  const app = await testApp({ store: 'postgres' })
  const key = await signUpOwner(app)
  const { id } = await addMember(app, key, 'viewer', 'bob@example.com')
  const { hold, waitForBlocked, release } = await openTableLock(app.ctx.config.databaseUrl ?? '')
  await hold('sessions')
  const signingIn = app.call('POST', '/v1/auth/login', { email: 'bob@example.com', password: PASSWORD }, { key: null })
  await waitForBlocked(1)
  const removing = app.call('DELETE', `/v1/members/${id}`, undefined, { key })
  await waitForBlocked(2)
  await release()
  const { status, body } = await signingIn
  expect([status, (await removing).status]).toEqual([200, 204])
  expect((await app.call('GET', '/v1/auth/session', undefined, { key: body.session_token })).status).toBe(401)
})
