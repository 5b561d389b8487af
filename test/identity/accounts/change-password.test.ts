import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { anyStore, eachStore, type TestApp, testApp } from '../../app.ts'
import { openStream } from '../../work/events/stream-reader.ts'
import { openTableLock } from '../../faults/table-lock.ts'
import { addMember, auditActions, countByStatus, PASSWORD, signUpOwner } from './members.ts'

const NEW_PASSWORD = 'another horse, another battery'
const EMAIL = 'owner@example.com'

const changePassword = (app: TestApp, key: string, body: object) => app.call('POST', '/v1/auth/password', body, { key })
const signIn = (app: TestApp, password: string) =>
  app.call('POST', '/v1/auth/login', { email: EMAIL, password }, { key: null })

anyStore((store) => {
  test('changing the password ends all other sessions of the member', async () => {
    const app = await testApp({ store })
    const session = await signUpOwner(app)
    const otherSession = (await signIn(app, PASSWORD)).body.session_token
    const stream = await openStream(`${app.url}/v1/stream`, { authorization: `Bearer ${otherSession}` })
    const colleague = await addMember(app, session, 'viewer')
    expect((await changePassword(app, session, { password: PASSWORD, new_password: NEW_PASSWORD })).status).toBe(204)
    await stream.ended
    expect((await app.call('GET', '/v1/tasks', undefined, { key: otherSession })).status).toBe(401)
    expect((await app.call('GET', '/v1/tasks', undefined, { key: session })).status).toBe(200)
    expect((await app.call('GET', '/v1/tasks', undefined, { key: colleague.session })).status).toBe(200)
    expect((await signIn(app, PASSWORD)).status).toBe(401)
    expect((await signIn(app, NEW_PASSWORD)).status).toBe(200)
    const { organisation } = (await app.call('GET', '/v1/auth/session')).body
    expect(await auditActions(app, organisation.id)).toContain('member.password_changed')
  })

  test('a session without the old password, or an API key, cannot change the password', async () => {
    const app = await testApp({ store })
    const session = await signUpOwner(app)
    const refusals = [
      [session, { password: 'not the password', new_password: NEW_PASSWORD }, 403, 'password is wrong'],
      [session, { new_password: NEW_PASSWORD }, 400, "field 'password' is required"],
      [session, { password: PASSWORD, new_password: 'short' }, 400, /^field 'new_password' must have at least 10/],
      [app.key, { password: PASSWORD, new_password: NEW_PASSWORD }, 403, 'a project key cannot do this'],
      ['svc_fst_nobody', { password: PASSWORD, new_password: NEW_PASSWORD }, 401, /./],
      // The credential is checked before the body.
      ['svc_fst_nobody', {}, 401, /./],
      [app.key, {}, 403, 'a project key cannot do this'],
    ] as const
    for (const [key, body, status, error] of refusals) {
      const response = await changePassword(app, key, body)
      expect([response.status, response.body.error]).toEqual([status, expect.stringMatching(error)])
    }
    expect((await signIn(app, PASSWORD)).status).toBe(200)
  })

  test('wrong old passwords count as failed sign-ins', async () => {
    const app = await testApp({ store })
    const session = await signUpOwner(app)
    for (let n = 0; n < 10; n++)
      await changePassword(app, session, { password: 'not the password', new_password: NEW_PASSWORD })
    expect((await changePassword(app, session, { password: PASSWORD, new_password: NEW_PASSWORD })).status).toBe(429)
    expect((await signIn(app, PASSWORD)).status).toBe(429)
  })

  test('a failed sign-in is in the audit log of the account, with the client address', async () => {
    const app = await testApp({ store })
    await signUpOwner(app)
    await signIn(app, 'not the password')
    await app.call('POST', '/v1/auth/login', { email: 'unknown@example.com', password: NEW_PASSWORD }, { key: null })
    const failed = () =>
      app.ctx.db.selectFrom('audit_entries').selectAll().where('action', '=', 'member.sign_in_failed').execute()
    await vi.waitUntil(async () => (await failed()).length > 0)
    const [entry, ...more] = await failed()
    expect(more).toEqual([])
    const { id } = await app.ctx.db.selectFrom('members').select('id').executeTakeFirstOrThrow()
    expect(entry).toMatchObject({ subject: id, actor_kind: 'system' })
    expect(JSON.parse(entry?.data ?? '')).toEqual({ address: expect.stringMatching(/127\.0\.0\.1|::1/) })
  })
})

eachStore((store) => {
  test('of two concurrent password changes one succeeds and the other gets 409', async () => {
    const app = await testApp({ store })
    const session = await signUpOwner(app)
    // Slow hashes, so that both changes compare the old password before one of them is stored.
    Object.assign(app.ctx.world, { passwordCost: { N: 2 ** 14, r: 8, p: 8 } })
    const responses = await Promise.all(
      [NEW_PASSWORD, `${NEW_PASSWORD}!`].map((new_password) =>
        changePassword(app, session, { password: PASSWORD, new_password }),
      ),
    )
    expect(countByStatus(responses)).toEqual({ 204: 1, 409: 1 })
  })
})

test.each([
  ['a sign-in', (app: TestApp) => signIn(app, PASSWORD), 200],
  [
    'a password change',
    (app: TestApp, key: string) => changePassword(app, key, { password: PASSWORD, new_password: NEW_PASSWORD }),
    204,
  ],
] as const)('%s locks the member before the failure counters, so that two cannot deadlock', async (_, send, status) => {
  const app = await testApp({ store: 'postgres' })
  const session = await signUpOwner(app)
  await signIn(app, 'not the password')
  const { id } = await app.ctx.db.selectFrom('members').select('id').executeTakeFirstOrThrow()
  const { holdRow, waitForBlocked, release } = await openTableLock(app.ctx.config.databaseUrl ?? '')
  await holdRow('members', id)
  const response = send(app, session)
  await waitForBlocked(1)
  const unlocked = await sql`select subject from login_failures for update skip locked`.execute(app.ctx.db)
  await release()
  expect([unlocked.rows.length, (await response).status]).toEqual([3, status])
})
