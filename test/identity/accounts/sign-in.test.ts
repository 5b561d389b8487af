import { expect, test, vi } from 'vitest'
import { countLoginAttempt } from '../../../src/identity/accounts/login-limit.ts'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { toIsoTime } from '../../../src/platform/ctx/world.ts'
import { anyStore, eachStore, type TestApp, testApp } from '../../app.ts'
import { openStream } from '../../work/events/stream-reader.ts'
import { auditActions, countByStatus, PASSWORD, signUpOwner } from './members.ts'

const DAY_MS = 24 * 60 * 60_000
const OWNER = { email: 'owner@example.com', password: PASSWORD }
const BEHIND_PROXY = { SVC_TRUSTED_PROXIES: '127.0.0.0/8, ::1' }
const OTHER_ADDRESS = '203.0.113.9'

anyStore((store) => {
  test('the first sign-up becomes the owner of the first organisation', async () => {
    const app = await testApp({ store })
    const before = await app.call('GET', '/v1/auth/session')
    const body = { ...OWNER, email: 'Owner@Example.com', organisation: 'Acme', name: 'Ada' }
    const signup = await app.call('POST', '/v1/auth/signup', body)
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

  test('with open sign-up everyone gets their own organisation, and an email can be used once', async () => {
    const app = await testApp({ store, env: { SVC_OPEN_SIGNUP: '1' } })
    await signUpOwner(app)
    const other = await app.call('POST', '/v1/auth/signup', { ...OWNER, email: 'b@example.com' }, { key: null })
    expect(other).toMatchObject({ status: 201, body: { projects: [{ slug: 'default' }] } })
    const session = await app.call('GET', '/v1/auth/session')
    expect(other.body.organisation.id).not.toBe(session.body.organisation.id)
    const again = await app.call('POST', '/v1/auth/signup', OWNER, { key: null })
    expect(again).toMatchObject({ status: 409, body: { error: 'email is already in use' } })
  })

  test('an invalid sign-up is a 400 that names the field', async () => {
    const app = await testApp({ store })
    const refusals = [
      [{ password: PASSWORD }, "field 'email' is required"],
      [{ email: 'not-an-address', password: PASSWORD }, "field 'email' must be an email address"],
      [{ email: OWNER.email, password: 'ninechars' }, "field 'password' must have at least 10 characters"],
      [{ ...OWNER, organisation: 7 }, "field 'organisation' must be a string"],
    ]
    for (const [body, error] of refusals) {
      const response = await app.call('POST', '/v1/auth/signup', body, { key: null })
      expect(response).toMatchObject({ status: 400, body: { error } })
    }
  })

  test('a session works after signing in and not after signing out', async () => {
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

  test('signing out ends the streams of the session, and streams of other sessions continue', async () => {
    const app = await testApp({ store })
    const key = await signUpOwner(app)
    const another = (await app.call('POST', '/v1/auth/login', OWNER, { key: null })).body.session_token
    const signedOut = await openStream(`${app.url}/v1/stream`, { authorization: `Bearer ${key}` })
    const other = await openStream(`${app.url}/v1/stream`, { authorization: `Bearer ${another}` })
    await Promise.all([signedOut, other].map((reader) => reader.until(({ tail }) => tail.includes('ready'))))
    expect((await app.call('POST', '/v1/auth/logout', undefined, { key })).status).toBe(204)
    await signedOut.ended
    const task = await app.createTask()
    expect(await other.until(({ tail }) => tail.includes(task.id))).toContain(task.id)
    other.close()
  })

  test('the session route describes an API key, and an API key cannot sign out', async () => {
    const app = await testApp({ store })
    const session = await app.call('GET', '/v1/auth/session')
    expect(session).toMatchObject({ status: 200, body: { member: null, key: { role: 'admin' }, role: 'admin' } })
    expect(session.body.projects).toHaveLength(1)
    expect((await app.call('POST', '/v1/auth/logout')).status).toBe(401)
  })

  test('a wrong password and an unknown account get the same error', async () => {
    const app = await testApp({ store })
    await signUpOwner(app)
    const wrong = await app.call('POST', '/v1/auth/login', { ...OWNER, password: 'not the password' }, { key: null })
    const unknown = await app.call('POST', '/v1/auth/login', { ...OWNER, email: 'no@example.com' }, { key: null })
    for (const { status, body, headers } of [wrong, unknown]) {
      expect({ status, body }).toEqual({ status: 401, body: { error: 'email or password is wrong' } })
      expect(headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  test('a session lasts thirty days from its last use, which is recorded at most once a day', async () => {
    const app = await testApp({ store })
    const key = await signUpOwner(app)
    const sessionStatus = () => app.call('GET', '/v1/auth/session', undefined, { key }).then(({ status }) => status)
    const daysLeft = async () => {
      const { expires_at } = await app.ctx.db.selectFrom('sessions').select('expires_at').executeTakeFirstOrThrow()
      return (Date.parse(expires_at) - app.clock.now()) / DAY_MS
    }
    const setDaysLeft = (days: number) => {
      const expires_at = toIsoTime(app.clock.now() + days * DAY_MS)
      return inTx(app.ctx, (tx) => tx.db.updateTable('sessions').set({ expires_at }).execute())
    }
    expect(await daysLeft()).toBe(30)
    await setDaysLeft(29.5)
    expect(await sessionStatus()).toBe(200)
    expect(await daysLeft()).toBe(29.5)
    await setDaysLeft(1)
    expect(await sessionStatus()).toBe(200)
    // The new expiry is written in the background.
    await vi.waitFor(async () => expect(await daysLeft()).toBe(30))
    await setDaysLeft(0)
    expect(await sessionStatus()).toBe(401)
  })

  test('after ten wrong passwords from one address the account is locked for that address, also with the right password', async () => {
    const app = await testApp({ store })
    await signUpOwner(app)
    const login = (password: string) => app.call('POST', '/v1/auth/login', { ...OWNER, password }, { key: null })
    await addFailures(app, 9, () => OWNER.email)
    expect((await login('a wrong guess')).status).toBe(401)
    const right = await login(PASSWORD)
    expect(right).toMatchObject({ status: 429, body: { error: 'too many failed sign-ins: try again later' } })
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0)
    app.clock.jump(Number(right.headers.get('retry-after')) * 1000)
    expect((await login(PASSWORD)).status).toBe(200)
  })

  test('ten wrong passwords from one address do not lock the member out from another address', async () => {
    const app = await testApp({ store, env: BEHIND_PROXY })
    await signUpOwner(app)
    await addFailures(app, 10, () => OWNER.email, OTHER_ADDRESS)
    expect(await loginFrom(app, OTHER_ADDRESS)).toBe(429)
    expect(await loginFrom(app, '198.51.100.7')).toBe(200)
    // A successful sign-in elsewhere does not reset the failures of this address.
    expect(await loginFrom(app, OTHER_ADDRESS)).toBe(429)
  })

  test('a hundred wrong passwords from many addresses lock the account for all addresses', async () => {
    const app = await testApp({ store, env: BEHIND_PROXY })
    await signUpOwner(app)
    for (let n = 0; n < 11; n++) await addFailures(app, 9, () => OWNER.email, `203.0.113.${n}`)
    expect(await loginFrom(app, '198.51.100.7')).toBe(200)
    await addFailures(app, 1, () => OWNER.email, '203.0.113.99')
    expect(await loginFrom(app, '198.51.100.7')).toBe(429)
  })

  test('fifty failures behind a trusted proxy lock the forwarded address only', async () => {
    const app = await testApp({ store, env: BEHIND_PROXY })
    await signUpOwner(app)
    await addFailures(app, 49, (n) => `other${n}@example.com`, OTHER_ADDRESS)
    const wrong = { ...OWNER, email: 'other@example.com' }
    expect(await loginFrom(app, `192.0.2.1, ${OTHER_ADDRESS}`, wrong)).toBe(401)
    expect(await loginFrom(app, OTHER_ADDRESS)).toBe(429)
    expect(await loginFrom(app, '198.51.100.7')).toBe(200)
  })

  test('failures from one IPv6 /64 network count as one address', async () => {
    const app = await testApp({ store, env: BEHIND_PROXY })
    await signUpOwner(app)
    await addFailures(app, 50, (n) => `other${n}@example.com`, '2001:db8:0:7::1')
    expect(await loginFrom(app, '2001:0DB8::7:a:b:c:d')).toBe(429)
    expect(await loginFrom(app, '2001:db8:0:8::1')).toBe(200)
    await addFailures(app, 50, (n) => `other${n}@example.com`, '::ffff:203.0.113.9')
    expect(await loginFrom(app, '203.0.113.9')).toBe(429)
    expect(await loginFrom(app, '::ffff:203.0.113.10')).toBe(200)
  })

  test('without a valid forwarded address the failures count for the proxy', async () => {
    const app = await testApp({ store, env: BEHIND_PROXY })
    await signUpOwner(app)
    await addFailures(app, 50, (n) => `other${n}@example.com`)
    expect(await loginFrom(app, 'unknown')).toBe(429)
  })

  test('a client that is not a trusted proxy cannot choose its address', async () => {
    const app = await testApp({ store, env: { SVC_TRUSTED_PROXIES: '192.0.2.1' } })
    await signUpOwner(app)
    await addFailures(app, 50, (n) => `other${n}@example.com`)
    expect(await loginFrom(app, '198.51.100.7')).toBe(429)
  })

  test('refused concurrent guesses do not hash their password', async () => {
    const app = await testApp({ store })
    const cost = { ...app.ctx.world.passwordCost, p: 8 }
    let hashes = 0
    Object.defineProperty(app.ctx.world, 'passwordCost', { get: () => (hashes++, cost) })
    const login = (n: number) => ({ email: `unknown${n}@example.com`, password: PASSWORD })
    const guess = (_: unknown, n: number) => app.call('POST', '/v1/auth/login', login(n), { key: null })
    expect(countByStatus(await Promise.all(Array.from({ length: 200 }, guess)))).toEqual({ 401: 50, 429: 150 })
    expect(hashes).toBe(50)
  })

  test('successful sign-ins are not counted as failures', async () => {
    const app = await testApp({ store })
    await signUpOwner(app)
    const login = () => app.call('POST', '/v1/auth/login', OWNER, { key: null }).then(({ status }) => status)
    for (let n = 0; n < 12; n++) expect(await login()).toBe(200)
    const counted = await app.ctx.db.selectFrom('login_failures').select('count').execute()
    expect(counted.every(({ count }) => count === 0)).toBe(true)
  })

  test('a successful sign-in clears the failures of its address at this account', async () => {
    const app = await testApp({ store })
    await signUpOwner(app)
    const login = () => app.call('POST', '/v1/auth/login', OWNER, { key: null }).then(({ status }) => status)
    await addFailures(app, 9, () => OWNER.email)
    expect(await login()).toBe(200)
    await addFailures(app, 9, () => OWNER.email)
    expect(await login()).toBe(200)
    await addFailures(app, 10, () => OWNER.email)
    expect(await login()).toBe(429)
  })

  test('fifty failures from one address lock all accounts for it', async () => {
    const app = await testApp({ store })
    await signUpOwner(app)
    const login = () => app.call('POST', '/v1/auth/login', OWNER, { key: null }).then(({ status }) => status)
    await addFailures(app, 49, (n) => `other${n}@example.com`)
    expect(await login()).toBe(200)
    await addFailures(app, 1, () => 'other@example.com')
    expect(await login()).toBe(429)
  })
})

eachStore((store) => {
  test('of twenty concurrent first sign-ups one becomes the owner and the others are refused', async () => {
    const app = await testApp({ store })
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        app.call('POST', '/v1/auth/signup', { ...OWNER, email: `founder${n}@example.com` }),
      ),
    )
    expect(countByStatus(responses)).toEqual({ 201: 1, 403: 19 })
    const winner = responses.find(({ status }) => status === 201)
    const members = await app.call('GET', '/v1/members', undefined, { key: winner?.body.session_token })
    expect(members.body.data).toHaveLength(1)
    const second = await app.call('POST', '/v1/auth/signup', OWNER, { key: null })
    expect(second).toMatchObject({ status: 403, body: { error: 'sign-up is closed: ask for an invitation' } })
  })

  test('concurrent guesses have the same limit as guesses one by one', async () => {
    const app = await testApp({ store })
    await signUpOwner(app)
    await addFailures(app, 9, () => OWNER.email)
    const login = (password: string) => app.call('POST', '/v1/auth/login', { ...OWNER, password }, { key: null })
    const responses = await Promise.all([1, 2, 3, 4].map(() => login('a wrong guess')))
    expect(countByStatus(responses)).toEqual({ 401: 1, 429: 3 })
    expect((await login(PASSWORD)).status).toBe(429)
  })
})

/** Counts failed sign-ins without the cost of hashing passwords. */
async function addFailures(app: TestApp, count: number, email: (n: number) => string, address = '127.0.0.1') {
  for (let n = 0; n < count; n++) await countLoginAttempt(app.ctx, { email: email(n), address })
}

/** Signs in through a proxy on this machine that sets X-Forwarded-For. */
async function loginFrom(app: TestApp, forwarded: string, body = OWNER): Promise<number> {
  const headers = { 'x-forwarded-for': forwarded }
  return (await app.call('POST', '/v1/auth/login', body, { key: null, headers })).status
}
