import { expect } from 'vitest'
import { type OauthTokens, readTokens } from '../../../src/connections/auth/token-store.ts'
import { findConnection } from '../../../src/connections/connection/rows.ts'
import type { Ctx } from '../../../src/platform/ctx/ctx.ts'
import { type TestApp, testApp } from '../../app.ts'
import { type FakeUpstream, type ReceivedRequest, respondJson } from '../../fake-upstream.ts'
import type { StoreKind } from '../../stores.ts'
import { ACTIVE_RUN, openUpstreamServer } from '../test-context.ts'
import { type AuthorizationServer, CLIENT_SECRET, PUBLIC_URL } from './authorization-server.ts'

export const MINUTE = 60_000

export const ACTION = { capability: 'crm', payload: { a: 1 }, idempotencyKey: 'apr_1', runSignal: ACTIVE_RUN }

export const SECRET_KEY = Buffer.alloc(32, 1).toString('base64')

/** An app that the provider of the test can call back, and that may call servers on this machine. */
export const startOauthApp = (store: StoreKind, env: Record<string, string> = {}): Promise<TestApp> =>
  testApp({
    store,
    env: {
      SVC_PUBLIC_URL: `${PUBLIC_URL}/`,
      SVC_EGRESS_ALLOW: '127.0.0.1',
      SVC_SECRET_KEY: SECRET_KEY,
      ...env,
    },
  })

/** A custom connection with this `config.auth` and the client secret, and the API that it calls. */
export async function createOauthConnection(
  app: TestApp,
  auth: Record<string, unknown>,
  more: Record<string, unknown> = {},
): Promise<{ api: FakeUpstream; id: string }> {
  const api = await openUpstreamServer((_request, response) => respondJson(response, 200, { done: true }))
  const config = { base_url: api.url, api_url: api.url, auth }
  const created = await app.call('POST', '/v1/connections', { kind: 'custom', name: 'crm', config, ...more })
  expect(created.status).toBe(201)
  const id = String(created.body.id)
  await app.call('POST', `/v1/connections/${id}/secret`, { value: CLIENT_SECRET })
  return { api, id }
}

/** Like `createOauthConnection`, and a person has authorised it. */
export async function createAuthorisedConnection(app: TestApp, provider: AuthorizationServer) {
  const created = await createOauthConnection(app, provider.auth)
  const query = await provider.consent(await startFlow(app, created.id))
  expect((await callBack(app, query)).headers.get('location')).toContain('oauth=connected')
  return created
}

export async function startFlow(app: TestApp, id: string, body: unknown = {}): Promise<string> {
  const started = await app.call('POST', `/v1/connections/${id}/oauth/start`, body)
  expect(started.status).toBe(200)
  return String(started.body.authorize_url)
}

export const callBack = (
  app: TestApp,
  query: URLSearchParams | Record<string, string>,
  cookie?: string,
): Promise<Response> =>
  fetch(`${app.url}/v1/oauth/callback?${new URLSearchParams(query).toString()}`, {
    redirect: 'manual',
    headers: { accept: 'text/html,*/*', ...(cookie !== undefined && { cookie }) },
  })

export const getConnection = async (app: TestApp, id: string) => (await app.call('GET', `/v1/connections/${id}`)).body

export const getHealth = async (app: TestApp, id: string) =>
  (await app.call('GET', `/v1/connections/${id}/health`)).body

export async function storedTokens(ctx: Ctx, id: string): Promise<OauthTokens | null> {
  const connection = await findConnection(ctx.db, id)
  return connection ? ((await readTokens(ctx, connection))?.tokens ?? null) : null
}

/** The names of the audited actions, oldest first. */
export const auditedActions = async (app: TestApp): Promise<string[]> =>
  (await app.ctx.db.selectFrom('audit_entries').select('action').orderBy('seq').execute()).map(({ action }) => action)

export const bearers = (requests: ReceivedRequest[]) => requests.map(({ headers }) => headers.authorization)
