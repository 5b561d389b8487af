import { expect, test } from 'vitest'
import { readAccessToken } from '../../../src/connections/auth/access-token.ts'
import { findConnection } from '../../../src/connections/connection/rows.ts'
import type { TestApp } from '../../app.ts'
import { respondJson } from '../../fake-upstream.ts'
import { eachStore } from '../../stores.ts'
import { openUpstreamServer } from '../test-context.ts'
import { PUBLIC_URL } from './authorization-server.ts'
import { callBack, createOauthConnection, startFlow, startOauthApp, storedTokens } from './oauth-app.ts'

/** A token endpoint that answers when the test says so. */
async function openSlowTokenEndpoint() {
  let answer = () => {}
  const tokens = { access_token: 'token-of-the-old-app', refresh_token: 'refresh-of-the-old-app', token_type: 'bearer' }
  const endpoint = await openUpstreamServer((_request, response) => {
    answer = () => respondJson(response, 200, tokens)
  })
  return { endpoint, answer: () => answer() }
}

async function changeApp(app: TestApp, id: string, auth: object): Promise<void> {
  const config = { base_url: 'https://api.other.test', auth: { ...auth, token_url: 'https://other.test/token' } }
  expect((await app.call('PUT', `/v1/connections/${id}`, { config })).status).toBe(200)
}

eachStore((store) => {
  test('tokens that arrive after the connection was changed to another app are not stored', async () => {
    const { endpoint, answer } = await openSlowTokenEndpoint()
    const auth = { type: 'oauth2', token_url: endpoint.url, client_id: 'desk' }
    const withCode = { ...auth, grant: 'authorization_code', authorize_url: 'https://provider.test/authorize' }
    const app = await startOauthApp(store)
    const { id } = await createOauthConnection(app, withCode)
    const state = new URL(await startFlow(app, id)).searchParams.get('state') ?? ''
    const back = callBack(app, { state, code: 'code' })
    await expect.poll(() => endpoint.received.length).toBe(1)
    await changeApp(app, id, withCode)
    answer()
    expect((await back).headers.get('location')).toBe(`${PUBLIC_URL}/connections?oauth_error=exchange_failed`)
    expect(await storedTokens(app.ctx, id)).toBeNull()
  })

  test('a token that is requested while the connection changes is not used', async () => {
    const { endpoint, answer } = await openSlowTokenEndpoint()
    const auth = { type: 'oauth2', grant: 'client_credentials', token_url: endpoint.url, client_id: 'desk' }
    const app = await startOauthApp(store)
    const { id } = await createOauthConnection(app, auth)
    const connection = await findConnection(app.ctx.db, id)
    if (!connection) throw new Error('no connection')
    const token = readAccessToken(app.ctx, connection, 'secret').catch((error: Error) => error.message)
    await expect.poll(() => endpoint.received.length).toBe(1)
    await changeApp(app, id, auth)
    answer()
    expect(await token).toBe("connection 'crm' was deleted or changed: try again")
    expect(await storedTokens(app.ctx, id)).toBeNull()
  })
})
