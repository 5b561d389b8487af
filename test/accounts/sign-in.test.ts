import { expect, test, vi } from 'vitest'
import { countLoginAttempt } from '../../src/accounts/login-limit.ts'
import { inTx } from '../../src/ctx/ctx.ts'
import { toIsoTime } from '../../src/ctx/world.ts'
import { eachStore, type TestApp, testApp } from '../app.ts'
import { openStream } from '../events/stream-reader.ts'
import { auditActions, PASSWORD, signUpOwner, countByStatus } from './members.ts'

const DAY = 24 * 60 * 60_000
const OWNER = { email: 'owner@example.com', password: PASSWORD }
const BEHIND_PROXY = { SVC_TRUSTED_PROXIES: '127.0.0.0/8, ::1' }
const ELSEWHERE = '203.0.113.9'

eachStore((store) => {
  test('the first sign-up becomes the owner of the organisation that the first start made', async () => {
    const app = await testApp({ store })
    const before = await app.call('GET', '/v1/auth/session')
    const body = { ...OWNER, email: 'Owner@Example.com', organisation: 'Acme', name: 'Ada' }
    const signup = await app.call('POST', '/v1/auth/signup', body, { key: null })
    expect(signup.status).toBe(201)
    expect(signup.body).toEqual({
      session_token: expect.stringMatching(/^svc_fst_/),
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      member: {
        id: expect.stringMatching(/^mem_/),
        email: OWNER.email,
        name: 'Ada',
        role: 'owner',
        status: 'active',
        created_at: expect.any(String),
      },
      organisation: { ...before.body.organisation, name: 'Acme' },
      projects: before.body.projects,
    })
    expect(await auditActions(app, signup.body.organisation.id)).toEqual([
      'organisation.created',
      'organisation.adopted',
      'member.signed_in',
    ])
  })

  test('of twenty who sign up at once one becomes the owner and the rest are refused', async () => {
    const app = await testApp({ store })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        app.call('POST', '/v1/auth/signup', { ...OWNER, email: `founder${n}@example.com` }, { key: null }),
      ),
    )
    expect(countByStatus(answers)).toEqual({ 201: 1, 403: 19 })
    const winner = answers.find(({ status }) => status === 201)
    const members = await app.call('GET', '/v1/members', undefined, { key: winner?.body.session_token })
    expect(members.body.data).toHaveLength(1)
    const late = await app.call('POST', '/v1/auth/signup', OWNER, { key: null })
    expect(late).toMatchObject({ status: 403, body: { error: 'sign-up is closed: ask for an invitation' } })
  })

  test('where sign-up is open everyone gets an organisation of their own, and an email names one member', async () => {
    const app = await testApp({ store, env: { SVC_OPEN_SIGNUP: '1' } })
    await signUpOwner(app)
    const other = await app.call('POST', '/v1/auth/signup', { ...OWNER, email: 'b@example.com' }, { key: null })
    expect(other).toMatchObject({ status: 201, body: { projects: [{ slug: 'default' }] } })
    const session = await app.call('GET', '/v1/auth/session')
    expect(other.body.organisation.id).not.toBe(session.body.organisation.id)
    const again = await app.call('POST', '/v1/auth/signup', OWNER, { key: null })
    expect(again).toMatchObject({ status: 409, body: { error: 'email is already in use' } })
  })

  test('a sign-up that says too little or nonsense is refused by name', async () => {
    const app = await testApp({ store })
    const refusals = [
      [{ password: PASSWORD }, "field 'email' is required"],
      [{ email: 'nobody', password: PASSWORD }, "field 'email' must be an email address"],
      [{ email: OWNER.email, password: 'ninechars' }, "field 'password' must have at least 10 characters"],
      [{ ...OWNER, organisation: 7 }, "field 'organisation' must be a string"],
    ]
    for (const [body, error] of refusals) {
      const answer = await app.call('POST', '/v1/auth/signup', body, { key: null })
      expect(answer).toMatchObject({ status: 400, body: { error } })
    }
  })

  test('a member signs in, is known by the session, and is not after signing out', async () => {
    const app = await testApp({ store })
    const first = await signUpOwner(app)
    const login = await app.call('POST', '/v1/auth/login', { ...OWNER, email: 'OWNER@example.com' }, { key: null })
    expect(login).toMatchObject({ status: 200, body: { member: { role: 'owner' }, projects: [{ slug: 'default' }] } })
    const key = login.body.session_token
    const session = await app.call('GET', '/v1/auth/session', undefined, { key })
    const { member, organisation, projects } = login.body
    expect(session).toMatchObject({ status: 200, body: { member, organisation, projects, role: 'owner', key: null } })
    expect((await app.call('POST', '/v1/auth/logout', undefined, { key })).status).toBe(204)
    expect((await app.call('GET', '/v1/auth/session', undefined, { key })).status).toBe(401)
    expect((await app.call('POST', '/v1/auth/logout', undefined, { key })).status).toBe(401)
    expect((await app.call('GET', '/v1/auth/session', undefined, { key: first })).status).toBe(200)
    expect(await auditActions(app, organisation.id)).toContain('member.signed_out')
  })

  test('the streams of a session end when its member signs out, and those of their other sessions go on', async () => {
    const app = await testApp({ store })
    const key = await signUpOwner(app)
    const another = (await app.call('POST', '/v1/auth/login', OWNER, { key: null })).body.session_token
    const left = await openStream(`${app.url}/v1/stream`, { authorization: `Bearer ${key}` })
    const kept = await openStream(`${app.url}/v1/stream`, { authorization: `Bearer ${another}` })
    await Promise.all([left, kept].map((reader) => reader.until(({ tail }) => tail.includes('ready'))))
    expect((await app.call('POST', '/v1/auth/logout', undefined, { key })).status).toBe(204)
    await left.ended
    const task = await app.createTask()
    expect(await kept.until(({ tail }) => tail.includes(task.id))).toContain(task.id)
    kept.close()
  })

  test('a key is known too, and cannot sign out', async () => {
    const app = await testApp({ store })
    const session = await app.call('GET', '/v1/auth/session')
    expect(session).toMatchObject({ status: 200, body: { member: null, key: { role: 'admin' }, role: 'admin' } })
    expect(session.body.projects).toHaveLength(1)
    expect((await app.call('POST', '/v1/auth/logout')).status).toBe(401)
  })

  test('a wrong password and an unknown account are refused with the same words', async () => {
    const app = await testApp({ store })
    await signUpOwner(app)
    const wrong = await app.call('POST', '/v1/auth/login', { ...OWNER, password: 'not the password' }, { key: null })
    const nobody = await app.call('POST', '/v1/auth/login', { ...OWNER, email: 'no@example.com' }, { key: null })
    for (const { status, body, headers } of [wrong, nobody]) {
      expect({ status, body }).toEqual({ status: 401, body: { error: 'email or password is wrong' } })
      expect(headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  test('a session lasts thirty days from its last use, written down once a day at most', async () => {
    const app = await testApp({ store })
    const key = await signUpOwner(app)
    const seen = () => app.call('GET', '/v1/auth/session', undefined, { key }).then(({ status }) => status)
    const daysLeft = async () => {
      const { expires_at } = await app.ctx.db.selectFrom('sessions').select('expires_at').executeTakeFirstOrThrow()
      return (Date.parse(expires_at) - app.clock.now()) / DAY
    }
    const leave = (days: number) => {
      const expires_at = toIsoTime(app.clock.now() + days * DAY)
      return inTx(app.ctx, (tx) => tx.db.updateTable('sessions').set({ expires_at }).execute())
    }
    expect(await daysLeft()).toBe(30)
    await leave(29.5)
    expect(await seen()).toBe(200)
    expect(await daysLeft()).toBe(29.5)
    await leave(1)
    expect(await seen()).toBe(200)
    // Written beside the request.
    await vi.waitFor(async () => expect(await daysLeft()).toBe(30))
    await leave(0)
    expect(await seen()).toBe(401)
  })

  test('after ten wrong passwords from one address the account is closed to it for a while, for the right one too', async () => {
    const app = await testApp({ store })
    await signUpOwner(app)
    const login = (password: string) => app.call('POST', '/v1/auth/login', { ...OWNER, password }, { key: null })
    await failures(app, 9, () => OWNER.email)
    expect((await login('a wrong guess')).status).toBe(401)
    const right = await login(PASSWORD)
    expect(right).toMatchObject({ status: 429, body: { error: 'too many failed sign-ins: try again later' } })
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0)
    await app.clock.advance(Number(right.headers.get('retry-after')) * 1000)
    expect((await login(PASSWORD)).status).toBe(200)
  })

  test('ten wrong passwords from one address do not keep the member out who signs in from another', async () => {
    const app = await testApp({ store, env: BEHIND_PROXY })
    await signUpOwner(app)
    await failures(app, 10, () => OWNER.email, ELSEWHERE)
    expect(await loginFrom(app, ELSEWHERE)).toBe(429)
    expect(await loginFrom(app, '198.51.100.7')).toBe(200)
    // What was right elsewhere gives no new guesses here.
    expect(await loginFrom(app, ELSEWHERE)).toBe(429)
  })

  test('a hundred wrong passwords from many addresses close the account to all of them', async () => {
    const app = await testApp({ store, env: BEHIND_PROXY })
    await signUpOwner(app)
    for (let n = 0; n < 11; n++) await failures(app, 9, () => OWNER.email, `203.0.113.${n}`)
    expect(await loginFrom(app, '198.51.100.7')).toBe(200)
    await failures(app, 1, () => OWNER.email, '203.0.113.99')
    expect(await loginFrom(app, '198.51.100.7')).toBe(429)
  })

  test('fifty failures behind a trusted proxy close the address that it names, and no other', async () => {
    const app = await testApp({ store, env: BEHIND_PROXY })
    await signUpOwner(app)
    await failures(app, 49, (n) => `stranger${n}@example.com`, ELSEWHERE)
    const wrong = { ...OWNER, email: 'stranger@example.com' }
    expect(await loginFrom(app, `192.0.2.1, ${ELSEWHERE}`, wrong)).toBe(401)
    expect(await loginFrom(app, ELSEWHERE)).toBe(429)
    expect(await loginFrom(app, '198.51.100.7')).toBe(200)
  })

  test('of IPv6 a whole /64 is one address, since whoever has one has them all', async () => {
    const app = await testApp({ store, env: BEHIND_PROXY })
    await signUpOwner(app)
    await failures(app, 50, (n) => `stranger${n}@example.com`, '2001:db8:0:7::1')
    expect(await loginFrom(app, '2001:0DB8::7:a:b:c:d')).toBe(429)
    expect(await loginFrom(app, '2001:db8:0:8::1')).toBe(200)
    await failures(app, 50, (n) => `stranger${n}@example.com`, '::ffff:203.0.113.9')
    expect(await loginFrom(app, '203.0.113.9')).toBe(429)
    expect(await loginFrom(app, '::ffff:203.0.113.10')).toBe(200)
  })

  test('where a proxy names no address its own is counted', async () => {
    const app = await testApp({ store, env: BEHIND_PROXY })
    await signUpOwner(app)
    await failures(app, 50, (n) => `stranger${n}@example.com`)
    expect(await loginFrom(app, 'unknown')).toBe(429)
  })

  test('whom nobody trusts cannot name another address than their own', async () => {
    const app = await testApp({ store, env: { SVC_TRUSTED_PROXIES: '192.0.2.1' } })
    await signUpOwner(app)
    await failures(app, 50, (n) => `stranger${n}@example.com`)
    expect(await loginFrom(app, '198.51.100.7')).toBe(429)
  })

  test('guesses sent all at once get no further than guesses one by one', async () => {
    const app = await testApp({ store })
    await signUpOwner(app)
    await failures(app, 9, () => OWNER.email)
    const login = (password: string) => app.call('POST', '/v1/auth/login', { ...OWNER, password }, { key: null })
    const answers = await Promise.all([1, 2, 3, 4].map(() => login('a wrong guess')))
    expect(countByStatus(answers)).toEqual({ 401: 1, 429: 3 })
    expect((await login(PASSWORD)).status).toBe(429)
  })

  test('of guesses sent all at once those that are refused cost no hash, which would keep everybody else waiting', async () => {
    const app = await testApp({ store })
    const cost = { ...app.ctx.world.passwordCost, p: 8 }
    let hashes = 0
    Object.defineProperty(app.ctx.world, 'passwordCost', { get: () => (hashes++, cost) })
    const login = (n: number) => ({ email: `nobody${n}@example.com`, password: PASSWORD })
    const guess = (_: unknown, n: number) => app.call('POST', '/v1/auth/login', login(n), { key: null })
    expect(countByStatus(await Promise.all(Array.from({ length: 200 }, guess)))).toEqual({ 401: 50, 429: 150 })
    expect(hashes).toBe(50)
  })

  test('those who sign in with the right password are not counted', async () => {
    const app = await testApp({ store })
    await signUpOwner(app)
    const login = () => app.call('POST', '/v1/auth/login', OWNER, { key: null }).then(({ status }) => status)
    for (let n = 0; n < 12; n++) expect(await login()).toBe(200)
    const counted = await app.ctx.db.selectFrom('login_failures').select('count').execute()
    expect(counted.every(({ count }) => count === 0)).toBe(true)
  })

  test('a sign-in that succeeds clears the failures of its account from its address', async () => {
    const app = await testApp({ store })
    await signUpOwner(app)
    const login = () => app.call('POST', '/v1/auth/login', OWNER, { key: null }).then(({ status }) => status)
    await failures(app, 9, () => OWNER.email)
    expect(await login()).toBe(200)
    await failures(app, 9, () => OWNER.email)
    expect(await login()).toBe(200)
    await failures(app, 10, () => OWNER.email)
    expect(await login()).toBe(429)
  })

  test('fifty failures from one address close it for every account', async () => {
    const app = await testApp({ store })
    await signUpOwner(app)
    const login = () => app.call('POST', '/v1/auth/login', OWNER, { key: null }).then(({ status }) => status)
    await failures(app, 49, (n) => `stranger${n}@example.com`)
    expect(await login()).toBe(200)
    await failures(app, 1, () => 'stranger@example.com')
    expect(await login()).toBe(429)
  })
})

/** Failed sign-ins, from this machine unless told otherwise, without the cost of their hashes. */
async function failures(app: TestApp, count: number, email: (n: number) => string, address = '127.0.0.1') {
  for (let n = 0; n < count; n++) await countLoginAttempt(app.ctx, { email: email(n), address })
}

/** As a proxy on this machine passes it on. */
async function loginFrom(app: TestApp, forwarded: string, body = OWNER): Promise<number> {
  const headers = { 'x-forwarded-for': forwarded }
  return (await app.call('POST', '/v1/auth/login', body, { key: null, headers })).status
}
