import { request } from 'node:http'
import { expect, test } from 'vitest'
import { eachStore, FOUNDER_KEY, type TestApp, testApp } from '../app.ts'
import { auditActions, PASSWORD } from './members.ts'

const OWNER = { email: 'owner@example.com', password: PASSWORD }
const NEEDS_KEY = {
  status: 403,
  body: { error: "the first sign-up needs the founder key as bearer, unless it is made on the service's own machine" },
}

/** As a proxy on this machine passes on what comes from outside. */
const ELSEWHERE = { 'x-forwarded-for': '203.0.113.9' }

const signUp = (app: TestApp, key: string | null, headers: Record<string, string> = {}) =>
  app.call('POST', '/v1/auth/signup', OWNER, { key, headers })

eachStore((store) => {
  test('a stranger from elsewhere does not become the owner of a deployment that works by its key', async () => {
    const app = await testApp({ store })
    const { organisation } = (await app.call('GET', '/v1/auth/session')).body
    for (const header of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via'])
      expect(await signUp(app, null, { [header]: '203.0.113.9' })).toMatchObject(NEEDS_KEY)
    // A page elsewhere whose name was made to lead here.
    expect(await statusFor(app, 'rebound.example')).toBe(403)
    expect(await signUp(app, 'svc_key_of-somebody-else-0123456789abcdef', ELSEWHERE)).toMatchObject(NEEDS_KEY)
    expect(await auditActions(app, organisation.id)).toEqual(['organisation.created'])
    const adopted = await signUp(app, FOUNDER_KEY, ELSEWHERE)
    expect(adopted).toMatchObject({ status: 201, body: { organisation, member: { role: 'owner' } } })
    const late = await app.call('POST', '/v1/auth/signup', { ...OWNER, email: 'b@example.com' }, { headers: ELSEWHERE })
    expect(late).toMatchObject({ status: 403, body: { error: 'sign-up is closed: ask for an invitation' } })
  })

  test('a key of a lower role does not make an owner', async () => {
    const app = await testApp({ store })
    const { key } = (await app.call('POST', '/v1/keys', { name: 'desk', role: 'operator' })).body
    expect(await signUp(app, key, ELSEWHERE)).toMatchObject(NEEDS_KEY)
  })

  test('where sign-up is open, who comes from elsewhere without the key gets an organisation of their own', async () => {
    const app = await testApp({ store, env: { SVC_OPEN_SIGNUP: '1' } })
    const { organisation } = (await app.call('GET', '/v1/auth/session')).body
    const stranger = await signUp(app, null, ELSEWHERE)
    expect(stranger.status).toBe(201)
    expect(stranger.body.organisation.id).not.toBe(organisation.id)
    const { key } = (await app.call('POST', '/v1/keys', { name: 'mine' }, { key: stranger.body.session_token })).body
    const another = { ...OWNER, email: 'another@example.com' }
    const theirs = await app.call('POST', '/v1/auth/signup', another, { key, headers: ELSEWHERE })
    expect(theirs.body.organisation.id).not.toBe(organisation.id)
    const founder = { ...OWNER, email: 'founder@example.com' }
    const adopted = await app.call('POST', '/v1/auth/signup', founder, { headers: ELSEWHERE })
    expect(adopted).toMatchObject({ status: 201, body: { organisation } })
  })

  test('where a public address is set, nobody is believed to come from this machine', async () => {
    const app = await testApp({ store, env: { SVC_PUBLIC_URL: 'https://work.example' } })
    expect(await signUp(app, null)).toMatchObject(NEEDS_KEY)
    expect((await signUp(app, FOUNDER_KEY)).status).toBe(201)
  })
})

/** A sign-up on this machine by another name; `fetch` sends only its own. */
function statusFor({ url }: TestApp, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { host, 'content-type': 'application/json' }
    const sent = request(`${url}/v1/auth/signup`, { method: 'POST', headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    sent.once('error', reject).end(JSON.stringify(OWNER))
  })
}
