import { describe, expect, onTestFinished, test } from 'vitest'
import { startApp } from '../../../src/server/app.ts'
import { sendAction } from '../../../src/connections/actions/send-action.ts'
import type { TestApp } from '../../app.ts'
import { advanceUntilSettled } from '../../approvals/decisions/gated-app.ts'
import { respondJson } from '../../fake-upstream.ts'
import { callApi } from '../../http.ts'
import { startAuthorizationServer } from './authorization-server.ts'
import { ACTION, bearers, createAuthorisedConnection, MINUTE, startOauthApp } from './oauth-app.ts'

describe('two replicas on one PostgreSQL', () => {
  async function startSecondReplica(app: TestApp) {
    const other = await startApp(app.ctx.config, app.ctx.world)
    onTestFinished(() => advanceUntilSettled(app, other.stop()))
    return other
  }

  test('fifty calls with an expired token: one refresh, and every call succeeds', async () => {
    const app = await startOauthApp('postgres')
    const other = await startSecondReplica(app)
    const provider = await startAuthorizationServer()
    const { api, id } = await createAuthorisedConnection(app, provider)
    for (let round = 1; round <= 3; round++) {
      api.received.length = 0
      app.clock.set(app.clock.now() + 61 * MINUTE)
      const calls = Array.from({ length: 50 }, (_, n) =>
        callApi(n % 2 ? app.url : other.url, app.key, 'POST', `/v1/connections/${id}/test`),
      )
      for (const { body } of await Promise.all(calls)) expect(body).toMatchObject({ ok: true })
      expect(provider.tokenRequests.filter((form) => form.get('grant_type') === 'refresh_token')).toHaveLength(round)
      expect(new Set(bearers(api.received))).toEqual(new Set([`Bearer ${provider.issued[round]?.access_token}`]))
    }
  })

  test('fifty calls with a token that the API refuses: one refresh, and every call succeeds', async () => {
    const app = await startOauthApp('postgres')
    const other = await startSecondReplica(app)
    const provider = await startAuthorizationServer()
    const { api, id } = await createAuthorisedConnection(app, provider)
    const refused = `Bearer ${provider.issued[0]?.access_token}`
    api.respond = ({ headers }, response) =>
      respondJson(response, headers.authorization === refused ? 401 : 200, { done: true })
    const calls = Array.from({ length: 50 }, (_, n) => sendAction(n % 2 ? app.ctx : other.ctx, { id }, ACTION))
    for (const result of await Promise.all(calls)) expect(result).toMatchObject({ outcome: 'ok' })
    expect(provider.tokenRequests.filter((form) => form.get('grant_type') === 'refresh_token')).toHaveLength(1)
  })
})
