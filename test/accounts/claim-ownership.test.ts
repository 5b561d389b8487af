import { request } from 'node:http'
import { expect, test } from 'vitest'
import { eachStore, FOUNDER_KEY, type TestApp, testApp } from '../app.ts'
import { auditActions, PASSWORD } from './members.ts'

const OWNER = { email: 'owner@example.com', password: PASSWORD }
const NEEDS_KEY = {
  status: 403,
  body: {
    error:
      'the first sign-up needs the founder key as bearer token, or must come from the machine that runs the service',
  },
}

/** The header that a proxy on this machine adds to a request from outside. */
const FORWARDED = { 'x-forwarded-for': '203.0.113.9' }

const signUp = (app: TestApp, key: string | null, headers: Record<string, string> = {}) =>
  app.call('POST', '/v1/auth/signup', OWNER, { key, headers })

eachStore((store) => {
  test('a sign-up from another machine without the founder key cannot claim the first organisation', async () => {
    const app = await testApp({ store })
    const { organisation } = (await app.call('GET', '/v1/auth/session')).body
    for (const header of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via'])
      expect(await signUp(app, null, { [header]: '203.0.113.9' })).toMatchObject(NEEDS_KEY)
    // DNS rebinding: the name of a foreign web page resolves to this machine.
    expect(await signUpStatusWithHost(app, 'rebound.example')).toBe(403)
    expect(await signUp(app, 'svc_key_of-another-service-0123456789abcdef', FORWARDED)).toMatchObject(NEEDS_KEY)
    expect(await auditActions(app, organisation.id)).toEqual(['organisation.created'])
    const claimed = await signUp(app, FOUNDER_KEY, FORWARDED)
    expect(claimed).toMatchObject({ status: 201, body: { organisation, member: { role: 'owner' } } })
    const second = await app.call(
      'POST',
      '/v1/auth/signup',
      { ...OWNER, email: 'b@example.com' },
      { headers: FORWARDED },
    )
    expect(second).toMatchObject({ status: 403, body: { error: 'sign-up is closed: ask for an invitation' } })
  })

  test('a key with a lower role cannot claim the first organisation', async () => {
    const app = await testApp({ store })
    const { key } = (await app.call('POST', '/v1/keys', { name: 'low', role: 'operator' })).body
    expect(await signUp(app, key, FORWARDED)).toMatchObject(NEEDS_KEY)
  })

  test('with open sign-up, a sign-up from another machine without the key gets its own organisation', async () => {
    const app = await testApp({ store, env: { SVC_OPEN_SIGNUP: '1' } })
    const { organisation } = (await app.call('GET', '/v1/auth/session')).body
    const outsider = await signUp(app, null, FORWARDED)
    expect(outsider.status).toBe(201)
    expect(outsider.body.organisation.id).not.toBe(organisation.id)
    const { key } = (await app.call('POST', '/v1/keys', { name: 'mine' }, { key: outsider.body.session_token })).body
    const another = { ...OWNER, email: 'another@example.com' }
    const own = await app.call('POST', '/v1/auth/signup', another, { key, headers: FORWARDED })
    expect(own.body.organisation.id).not.toBe(organisation.id)
    const founder = { ...OWNER, email: 'founder@example.com' }
    const claimed = await app.call('POST', '/v1/auth/signup', founder, { headers: FORWARDED })
    expect(claimed).toMatchObject({ status: 201, body: { organisation } })
  })

  test('with SVC_PUBLIC_URL set, no request counts as coming from this machine', async () => {
    const app = await testApp({ store, env: { SVC_PUBLIC_URL: 'https://work.example' } })
    expect(await signUp(app, null)).toMatchObject(NEEDS_KEY)
    expect((await signUp(app, FOUNDER_KEY)).status).toBe(201)
  })
})

/** Signs up from this machine with another Host header, which `fetch` cannot set. */
function signUpStatusWithHost({ url }: TestApp, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { host, 'content-type': 'application/json' }
    const sent = request(`${url}/v1/auth/signup`, { method: 'POST', headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.once('error', reject).end(JSON.stringify(OWNER))
  })
}
