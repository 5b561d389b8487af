import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { eachStore, type TestApp, testApp } from '../app.ts'
import { openStream } from '../events/stream-reader.ts'
import { openTableLock } from '../faults/table-lock.ts'
import { auditActions, addMember, PASSWORD, signUpOwner, countByStatus } from './members.ts'

const NEW = 'another horse, another battery'
const EMAIL = 'owner@example.com'

const change = (app: TestApp, key: string, body: object) => app.call('POST', '/v1/auth/password', body, { key })
const signIn = (app: TestApp, password: string) =>
  app.call('POST', '/v1/auth/login', { email: EMAIL, password }, { key: null })

eachStore((store) => {
  test('a member chooses another password, and every other session of theirs is over', async () => {
    const app = await testApp({ store })
    const session = await signUpOwner(app)
    const elsewhere = (await signIn(app, PASSWORD)).body.session_token
    const stream = await openStream(`${app.url}/v1/stream`, { authorization: `Bearer ${elsewhere}` })
    const colleague = await addMember(app, session, 'viewer')
    expect((await change(app, session, { password: PASSWORD, new_password: NEW })).status).toBe(204)
    await stream.ended
    expect((await app.call('GET', '/v1/tasks', undefined, { key: elsewhere })).status).toBe(401)
    expect((await app.call('GET', '/v1/tasks', undefined, { key: session })).status).toBe(200)
    expect((await app.call('GET', '/v1/tasks', undefined, { key: colleague.session })).status).toBe(200)
    expect((await signIn(app, PASSWORD)).status).toBe(401)
    expect((await signIn(app, NEW)).status).toBe(200)
    const { organisation } = (await app.call('GET', '/v1/auth/session')).body
    expect(await auditActions(app, organisation.id)).toContain('member.password_changed')
  })

  test('who only holds the session, or a key, chooses none', async () => {
    const app = await testApp({ store })
    const session = await signUpOwner(app)
    const refusals = [
      [session, { password: 'not the password', new_password: NEW }, 403, 'password is wrong'],
      [session, { new_password: NEW }, 400, "field 'password' is required"],
      [session, { password: PASSWORD, new_password: 'short' }, 400, /^field 'new_password' must have at least 10/],
      [app.key, { password: PASSWORD, new_password: NEW }, 403, 'a project key cannot do this'],
      ['svc_fst_nobody', { password: PASSWORD, new_password: NEW }, 401, /./],
      // Who asks is judged before what is asked.
      ['svc_fst_nobody', {}, 401, /./],
      [app.key, {}, 403, 'a project key cannot do this'],
    ] as const
    for (const [key, body, status, error] of refusals) {
      const answer = await change(app, key, body)
      expect([answer.status, answer.body.error]).toEqual([status, expect.stringMatching(error)])
    }
    expect((await signIn(app, PASSWORD)).status).toBe(200)
  })

  test('guesses at the password behind a session are counted like any other', async () => {
    const app = await testApp({ store })
    const session = await signUpOwner(app)
    for (let n = 0; n < 10; n++) await change(app, session, { password: 'not the password', new_password: NEW })
    expect((await change(app, session, { password: PASSWORD, new_password: NEW })).status).toBe(429)
    expect((await signIn(app, PASSWORD)).status).toBe(429)
  })

  test('of two changes at once one counts, and the other is told so', async () => {
    const app = await testApp({ store })
    const session = await signUpOwner(app)
    const answers = await Promise.all(
      [NEW, `${NEW}!`].map((new_password) => change(app, session, { password: PASSWORD, new_password })),
    )
    expect(countByStatus(answers)).toEqual({ 204: 1, 409: 1 })
  })

  test('a failed sign-in is in the audit of whose account it was, with the address it came from', async () => {
    const app = await testApp({ store })
    await signUpOwner(app)
    await signIn(app, 'not the password')
    await app.call('POST', '/v1/auth/login', { email: 'nobody@example.com', password: NEW }, { key: null })
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

test.each([
  ['a sign-in', (app: TestApp) => signIn(app, PASSWORD), 200],
  ['a change', (app: TestApp, key: string) => change(app, key, { password: PASSWORD, new_password: NEW }), 204],
] as const)('%s holds the member before the counters, so that no two wait for each other', async (_, ask, status) => {
  const app = await testApp({ store: 'postgres' })
  const session = await signUpOwner(app)
  await signIn(app, 'not the password')
  const { id } = await app.ctx.db.selectFrom('members').select('id').executeTakeFirstOrThrow()
  const { holdRow, halted, release } = await openTableLock(app.ctx.config.databaseUrl ?? '')
  await holdRow('members', id)
  const asked = ask(app, session)
  await halted(1)
  const free = await sql`select subject from login_failures for update skip locked`.execute(app.ctx.db)
  await release()
  expect([free.rows.length, (await asked).status]).toEqual([3, status])
})
