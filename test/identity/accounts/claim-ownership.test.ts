import { expect, test } from 'vitest'
import { anyStore, FOUNDER_KEY, type TestApp, testApp } from '../../app.ts'
import { auditActions, PASSWORD } from './members.ts'

const OWNER = { email: 'owner@example.com', password: PASSWORD }
const NEEDS_KEY = { status: 403, body: { error: 'the first sign-up needs the founder key as bearer token' } }

const signUp = (app: TestApp, key: string | null, headers: Record<string, string> = {}) =>
  app.call('POST', '/v1/auth/signup', OWNER, { key, headers })

anyStore((store) => {
  test('a first sign-up without the founder key is refused, also from the machine of the service', async () => {
    const app = await testApp({ store })
    const { organisation } = (await app.call('GET', '/v1/auth/session')).body
    const readState = async () => (await app.call('GET', '/v1/auth/signup', undefined, { key: null })).body
    expect(await readState()).toEqual({ has_owner: false, open: false })
    expect(await signUp(app, null)).toMatchObject(NEEDS_KEY)
    expect(await signUp(app, null, { 'x-forwarded-for': '203.0.113.9' })).toMatchObject(NEEDS_KEY)
    expect(await signUp(app, 'svc_key_of-another-service-0123456789abcdef')).toMatchObject(NEEDS_KEY)
    expect(await auditActions(app, organisation.id)).toEqual(['organisation.created'])
    const claimed = await signUp(app, FOUNDER_KEY)
    expect(claimed).toMatchObject({ status: 201, body: { organisation, member: { role: 'owner' } } })
    expect(await readState()).toEqual({ has_owner: true, open: false })
    const second = await app.call('POST', '/v1/auth/signup', { ...OWNER, email: 'b@example.com' })
    expect(second).toMatchObject({ status: 403, body: { error: 'sign-up is closed: ask for an invitation' } })
  })

  test('a key with a lower role cannot claim the first organisation', async () => {
    const app = await testApp({ store })
    const { key } = (await app.call('POST', '/v1/keys', { name: 'low', role: 'operator' })).body
    expect(await signUp(app, key)).toMatchObject(NEEDS_KEY)
  })

  test('with open sign-up, a sign-up without the key gets its own organisation', async () => {
    const app = await testApp({ store, env: { SVC_OPEN_SIGNUP: '1' } })
    const { organisation } = (await app.call('GET', '/v1/auth/session')).body
    const outsider = await signUp(app, null)
    expect(outsider.status).toBe(201)
    expect(outsider.body.organisation.id).not.toBe(organisation.id)
    const state = await app.call('GET', '/v1/auth/signup', undefined, { key: null })
    expect(state.body).toEqual({ has_owner: false, open: true })
    const { key } = (await app.call('POST', '/v1/keys', { name: 'mine' }, { key: outsider.body.session_token })).body
    const own = await app.call('POST', '/v1/auth/signup', { ...OWNER, email: 'another@example.com' }, { key })
    expect(own.body.organisation.id).not.toBe(organisation.id)
    const claimed = await app.call('POST', '/v1/auth/signup', { ...OWNER, email: 'founder@example.com' })
    expect(claimed).toMatchObject({ status: 201, body: { organisation } })
  })
})
