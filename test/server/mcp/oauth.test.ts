import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import * as o from 'oauth4webapi'
import { describe, expect, test, vi } from 'vitest'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { removeExpiredMcpAccess } from '../../../src/server/mcp/oauth/tokens.ts'
import { addMember, addProject, auditActions, countByStatus, signUpOwner } from '../../identity/accounts/members.ts'
import { anyStore, eachStore, type TestApp, testApp } from '../../app.ts'
import { SCRIPTED_AGENT } from '../../work/tasks/scripted-agent.ts'
import { mcpClient } from './mcp-client.ts'
import { connectApp, consent, discover, memoryProvider, PUBLIC_URL, publicFetch, REDIRECT_URI } from './oauth-app.ts'

const ENV = { SVC_PUBLIC_URL: PUBLIC_URL }
const MINUTE = 60_000

/** What an app with this token gets for a `ping`. */
const pingStatus = async (app: TestApp, key: string) =>
  (await mcpClient(app, { key }).post({ jsonrpc: '2.0', id: 1, method: 'ping' })).status

anyStore((store) => {
  describe('OAuth of the MCP endpoint', () => {
    test('the MCP client library finds the service by its URL, registers, gets consent and runs a task', async () => {
      const app = await testApp({ store, env: ENV })
      const session = await signUpOwner(app)
      const opened: URL[] = []
      const provider = memoryProvider(REDIRECT_URI, (url) => opened.push(url))
      const options = { fetch: publicFetch(app), authProvider: provider }
      const first = new StreamableHTTPClientTransport(new URL(`${PUBLIC_URL}/mcp`), options)
      await expect(new Client({ name: 'judge', version: '1' }).connect(first)).rejects.toThrow(UnauthorizedError)
      const [url] = opened
      expect(url?.origin + (url?.pathname ?? '')).toBe(`${PUBLIC_URL}/authorize`)
      expect(url?.searchParams.get('resource')).toBe(`${PUBLIC_URL}/mcp`)
      const redirected = await consent(app, session, url as URL)
      await first.finishAuth(redirected.searchParams)
      const client = new Client({ name: 'judge', version: '1' })
      await client.connect(new StreamableHTTPClientTransport(new URL(`${PUBLIC_URL}/mcp`), options))
      const ran = await client.callTool({
        name: 'run_task',
        arguments: { wedge: 'echo', task_type: 'say', input: 'hi' },
      })
      expect(ran.structuredContent).toMatchObject({ status: 'succeeded', output: { said: 'hi' } })
      await client.close()
    })

    test('oauth4webapi gets tokens with PKCE and refreshes them; the access token expires after 15 minutes', async () => {
      const app = await testApp({ store, env: ENV })
      const session = await signUpOwner(app)
      const { tokens, refresh } = await connectApp(app, session)
      expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 900, scope: 'operator' })
      expect(await pingStatus(app, tokens.access_token)).toBe(200)
      await app.clock.advance(15 * MINUTE)
      expect(await pingStatus(app, tokens.access_token)).toBe(401)
      const next = await refresh(tokens.refresh_token ?? '')
      expect(await pingStatus(app, next.access_token)).toBe(200)
      const stored = JSON.stringify(await app.ctx.db.selectFrom('mcp_tokens').selectAll().execute())
      for (const token of [tokens.access_token, next.access_token, next.refresh_token]) {
        expect(stored).not.toContain(token)
        expect(app.logged.join('\n')).not.toContain(token)
      }
    })

    test('a refresh token that is used twice ends the access of the app', async () => {
      const app = await testApp({ store, env: ENV })
      const session = await signUpOwner(app)
      const { tokens, refresh } = await connectApp(app, session)
      const next = await refresh(tokens.refresh_token ?? '')
      await expect(refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant', status: 400 })
      expect(await pingStatus(app, next.access_token)).toBe(401)
      await expect(refresh(next.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' })
      const { projects } = (await app.call('GET', '/v1/auth/session', undefined, { key: session })).body
      expect(await auditActions(app, projects[0].id)).toEqual([
        'key.created',
        'mcp_app.authorised',
        'mcp_app.connected',
        'mcp_app.revoked',
      ])
    })

    test('a code works once, with its verifier, its app and its redirect URI; a second use ends the access', async () => {
      const app = await testApp({ store, env: ENV })
      const session = await signUpOwner(app)
      const { tokens, exchange, client, code, verifier } = await connectApp(app, session)
      const right = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: REDIRECT_URI,
        client_id: client.client_id,
        code_verifier: verifier,
      }
      for (const wrong of [
        { code_verifier: o.generateRandomCodeVerifier() },
        { client_id: 'app_other' },
        { redirect_uri: `${REDIRECT_URI}/` },
        { code: 'svc_mco_other' },
      ]) {
        const refused = await postForm(app, 'token', { ...right, ...wrong })
        expect([refused.status, refused.body.error], JSON.stringify(wrong)).toEqual([400, 'invalid_grant'])
      }
      expect(await pingStatus(app, tokens.access_token)).toBe(200)
      await expect(exchange()).rejects.toMatchObject({ error: 'invalid_grant' })
      expect(await pingStatus(app, tokens.access_token)).toBe(401)
      for (const [form, error] of [
        [{}, 'invalid_request'],
        [{ ...right, grant_type: 'password' }, 'unsupported_grant_type'],
        [{ ...right, resource: 'https://other.example/mcp' }, 'invalid_target'],
        [{ grant_type: 'refresh_token' }, 'invalid_request'],
      ] as const) {
        const refused = await postForm(app, 'token', form)
        expect([refused.status, refused.body.error], JSON.stringify(form)).toEqual([400, error])
        expect(refused.headers.get('cache-control')).toBe('no-store')
      }
      const twice = { raw: 'grant_type=refresh_token&grant_type=authorization_code', headers: FORM }
      expect((await app.call('POST', '/v1/mcp-oauth/token', undefined, twice)).body.error).toBe('invalid_request')
      const json = await app.call('POST', '/v1/mcp-oauth/token', right)
      expect([json.status, json.body.error]).toEqual([400, 'invalid_request'])
    })

    test('a code expires after 5 minutes', async () => {
      const app = await testApp({ store, env: ENV })
      const session = await signUpOwner(app)
      const { client, verifier } = await connectApp(app, session)
      const request = await authorisationRequest(client.client_id, verifier)
      const redirected = await consent(app, session, request)
      await app.clock.advance(5 * MINUTE)
      const expired = await postForm(app, 'token', {
        grant_type: 'authorization_code',
        code: redirected.searchParams.get('code') ?? '',
        redirect_uri: REDIRECT_URI,
        client_id: client.client_id,
        code_verifier: verifier,
      })
      expect([expired.status, expired.body.error]).toEqual([400, 'invalid_grant'])
    })

    test('a token of an app works at /mcp only, in its project, with the chosen role', async () => {
      const app = await testApp({ store, env: ENV })
      const session = await signUpOwner(app)
      const { project } = await addProject(app, session)
      const { tokens } = await connectApp(app, session, { role: 'viewer', project })
      const key = tokens.access_token
      for (const path of ['/v1/tasks', '/v1/auth/session', '/v1/portal/me', '/v1/keys'])
        expect((await app.call('GET', path, undefined, { key })).status, path).toBe(401)
      expect(await pingStatus(app, tokens.refresh_token ?? '')).toBe(401)
      const client = mcpClient(app, { key })
      const refused = await client.tool('run_task', { wedge: 'echo', task_type: 'say' })
      expect(refused).toEqual({ isError: true, text: "role 'viewer' cannot do this" })
      const { id } = await app.createTask()
      expect((await client.tool('get_task', { task_id: id })).text).toBe('no such task')
      const other = await mcpClient(app, { key, headers: { 'x-svc-project': 'prj_other' } }).post({
        jsonrpc: '2.0',
        id: 1,
        method: 'ping',
      })
      expect(other.status).toBe(404)
    })

    test('a demoted member loses the role in all apps, and a removed member loses all access', async () => {
      const app = await testApp({ store, env: ENV })
      const owner = await signUpOwner(app)
      const member = await addMember(app, owner, 'operator')
      const { tokens, refresh } = await connectApp(app, member.session)
      const client = mcpClient(app, { key: tokens.access_token })
      const run = { wedge: 'echo', task_type: 'say', input: 1 }
      expect((await client.tool('run_task', run)).value.status).toBe('succeeded')
      await app.call('PUT', `/v1/members/${member.id}`, { role: 'viewer' }, { key: owner })
      expect((await client.tool('run_task', run)).text).toBe("role 'viewer' cannot do this")
      await app.call('DELETE', `/v1/members/${member.id}`, undefined, { key: owner })
      expect(await pingStatus(app, tokens.access_token)).toBe(401)
      await expect(refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' })
    })

    test('a member lists and revokes own apps, an admin those of all; a waiting call ends with 401', async () => {
      const app = await testApp({ store, env: { ...ENV, ...SCRIPTED_AGENT } })
      const owner = await signUpOwner(app)
      const member = await addMember(app, owner, 'operator')
      const mine = await connectApp(app, owner)
      const theirs = await connectApp(app, member.session)
      const list = async (key: string) =>
        (await app.call('GET', '/v1/mcp-authorisations', undefined, { key })).body.data
      const [own, ...none] = await list(member.session)
      expect(none).toEqual([])
      expect(own).toMatchObject({
        app: { name: 'Assistant' },
        member: { id: member.id, name: 'operator-two@example.com' },
        role: 'operator',
        last_used_at: expect.any(String),
      })
      const all = await list(owner)
      expect(all).toHaveLength(2)
      const foreign = all.find(({ id }: { id: string }) => id !== own.id)
      const path = `/v1/mcp-authorisations/${foreign.id}`
      expect((await app.call('DELETE', path, undefined, { key: member.session })).status).toBe(404)
      const { id } = await app.createTask({ input: ['hang'] })
      const client = mcpClient(app, { key: mine.tokens.access_token })
      const wait = { name: 'get_task', arguments: { task_id: id, wait_s: 50 } }
      const subscribed = vi.spyOn(app.ctx.changeHints, 'subscribe')
      const waiting = client.post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: wait })
      const isWaiting = () => subscribed.mock.calls.some(([{ topic }]) => topic === 'project-changed')
      await expect.poll(isWaiting).toBe(true)
      expect((await app.call('DELETE', path, undefined, { key: owner })).status).toBe(204)
      expect((await waiting).status).toBe(401)
      expect((await app.call('DELETE', path, undefined, { key: owner })).status).toBe(404)
      expect(await pingStatus(app, theirs.tokens.access_token)).toBe(200)
      const revoked = await postForm(app, 'revoke', { token: theirs.tokens.refresh_token ?? '' })
      expect(revoked.status).toBe(200)
      expect((await postForm(app, 'revoke', { token: 'svc_mrt_unknown' })).status).toBe(200)
      expect(await pingStatus(app, theirs.tokens.access_token)).toBe(401)
      expect(await list(owner)).toEqual([])
      await app.call('POST', `/v1/tasks/${id}/cancel`)
    })

    test('consent needs a member, a registered app and redirect URI, PKCE, a known resource and a role of at most the own', async () => {
      const app = await testApp({ store, env: ENV })
      const owner = await signUpOwner(app)
      const { session } = await addMember(app, owner, 'viewer')
      const { client, verifier } = await connectApp(app, session, { role: 'viewer' })
      const request = Object.fromEntries((await authorisationRequest(client.client_id, verifier)).searchParams)
      const [project] = (await app.call('GET', '/v1/auth/session', undefined, { key: session })).body.projects
      const post = (change: object, key = session) =>
        app.call(
          'POST',
          '/v1/mcp-authorisations',
          { ...request, project_id: project.id, role: 'viewer', ...change },
          { key },
        )
      expect((await post({}, app.key)).status).toBe(403)
      expect((await post({ role: 'operator' })).status).toBe(403)
      expect((await post({ project_id: 'prj_other' })).status).toBe(404)
      for (const change of [
        { client_id: 'app_other' },
        { redirect_uri: 'https://evil.example/callback' },
        { redirect_uri: `${REDIRECT_URI}?more=1` },
        { response_type: 'token' },
        { code_challenge: undefined },
        { code_challenge_method: 'plain' },
        { resource: 'https://other.example/mcp' },
      ])
        expect((await post(change)).status, JSON.stringify(change)).toBe(400)
      const ask = (change: Record<string, string>) =>
        app.call(
          'GET',
          `/v1/mcp-oauth/consent?${new URLSearchParams({ ...request, ...change }).toString()}`,
          undefined,
          {
            key: session,
          },
        )
      expect((await ask({})).body).toEqual({
        app: { name: 'Assistant', redirect_host: 'assistant.example' },
        error: null,
        return_url: expect.stringContaining('error=access_denied'),
      })
      const wrong = (await ask({ resource: 'https://other.example' })).body
      expect(new URL(wrong.return_url).searchParams.get('error')).toBe('invalid_target')
      expect(new URL(wrong.return_url).searchParams.get('iss')).toBe(PUBLIC_URL)
      expect((await ask({ redirect_uri: 'https://evil.example' })).status).toBe(400)
    })

    test('the port of a loopback redirect URI may be another one, and nothing else', async () => {
      const app = await testApp({ store, env: ENV })
      const session = await signUpOwner(app)
      const registered = {
        client_name: 'Shell\u202e\n',
        redirect_uris: ['http://127.0.0.1/callback', 'http://[::1]:1/cb'],
      }
      const { body: client } = await app.call('POST', '/v1/mcp-oauth/register', registered, { key: null })
      expect(client.client_name).toBe('Shell')
      const verifier = o.generateRandomCodeVerifier()
      const url = await authorisationRequest(client.client_id, verifier)
      const ask = (redirect_uri: string) => {
        url.searchParams.set('redirect_uri', redirect_uri)
        return app.call('GET', `/v1/mcp-oauth/consent${url.search}`, undefined, { key: session })
      }
      for (const other of [
        'http://127.0.0.1:51004/other',
        'http://127.0.0.1:51004/callback?more=1',
        'http://127.0.0.1:99999/callback',
        'http://127.0.0.1:80@evil.example/callback',
        'http://127.0.0.1.evil.example/callback',
        'http://localhost:51004/callback',
        'https://127.0.0.1:51004/callback',
      ])
        expect((await ask(other)).status, other).toBe(400)
      for (const same of ['http://[::1]:51004/cb', 'http://127.0.0.1:51004/callback'])
        expect((await ask(same)).status, same).toBe(200)
      const redirected = await consent(app, session, url)
      expect(redirected.host).toBe('127.0.0.1:51004')
      const form = {
        grant_type: 'authorization_code',
        client_id: client.client_id,
        code: redirected.searchParams.get('code') ?? '',
        code_verifier: verifier,
      }
      const first = await postForm(app, 'token', { ...form, redirect_uri: 'http://127.0.0.1/callback' })
      expect([first.status, first.body.error]).toEqual([400, 'invalid_grant'])
      expect((await postForm(app, 'token', { ...form, redirect_uri: 'http://127.0.0.1:51004/callback' })).status).toBe(
        200,
      )
    })

    test('a 401 of /mcp names the metadata of the resource', async () => {
      const app = await testApp({ store, env: ENV })
      const metadata = `resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp"`
      const challenge = async (key: string | null) =>
        (await app.call('POST', '/mcp', {}, { key })).headers.get('www-authenticate')
      expect(await challenge(null)).toBe(`Bearer ${metadata}`)
      for (const key of ['svc_mat_unknown', 'svc_key_unknown_0123456789'])
        expect(await challenge(key)).toBe(`Bearer error="invalid_token", ${metadata}`)
      expect((await discover(app)).code_challenge_methods_supported).toEqual(['S256'])
    })

    test('registration accepts safe redirect URIs only, and is limited for each network', async () => {
      const app = await testApp({ store, env: ENV })
      const post = (body: object) => app.call('POST', '/v1/mcp-oauth/register', body, { key: null })
      const register = (uri: string) => post({ client_name: 'A', redirect_uris: [uri] })
      for (const uri of ['http://127.0.0.1:3334/cb', 'http://localhost/cb', 'cursor://callback/oauth'])
        expect((await register(uri)).body, uri).toMatchObject({
          client_id: expect.stringMatching(/^app_/),
          redirect_uris: [uri],
          token_endpoint_auth_method: 'none',
        })
      for (const uri of [
        'http://assistant.example/cb',
        'javascript://x/%0aalert(1)',
        'java\nscript://x/%0aalert(1)',
        'data:text/html,x',
        'https://a.example/#fragment',
        'https://user:word@a.example/',
        'nothing',
      ]) {
        const refused = await register(uri)
        expect([refused.status, refused.body.error], uri).toEqual([400, 'invalid_redirect_uri'])
      }
      const empty = await post({ redirect_uris: [] })
      expect([empty.status, empty.body.error]).toEqual([400, 'invalid_client_metadata'])
      const many = await Promise.all(Array.from({ length: 30 }, () => register(REDIRECT_URI)))
      expect(countByStatus(many)).toEqual({ 201: 19, 429: 11 })
    })

    test('unused apps and expired tokens are deleted', async () => {
      const app = await testApp({ store, env: ENV })
      const session = await signUpOwner(app)
      await connectApp(app, session)
      await app.call('POST', '/v1/mcp-oauth/register', { redirect_uris: [REDIRECT_URI] }, { key: null })
      const counts = async () => [
        (await app.ctx.db.selectFrom('mcp_apps').select('id').execute()).length,
        (await app.ctx.db.selectFrom('mcp_authorisations').select('id').execute()).length,
      ]
      await removeExpiredMcpAccess(app.ctx)
      expect(await counts()).toEqual([2, 1])
      const created_at = new Date(app.clock.now() - 25 * 60 * MINUTE).toISOString()
      await inTx(app.ctx, (tx) => tx.db.updateTable('mcp_apps').set({ created_at }).execute())
      await removeExpiredMcpAccess(app.ctx)
      expect(await counts()).toEqual([1, 1])
      const expires_at = new Date(app.clock.now()).toISOString()
      await inTx(app.ctx, async (tx) => {
        await tx.db.updateTable('mcp_tokens').set({ expires_at }).execute()
        await tx.db.updateTable('mcp_codes').set({ expires_at }).execute()
      })
      await removeExpiredMcpAccess(app.ctx)
      expect(await counts()).toEqual([1, 0])
    })
  })
})

eachStore((store) => {
  describe('OAuth of the MCP endpoint', () => {
    test('of many uses of one refresh token at once, at most one gets tokens, and the access ends', async () => {
      const app = await testApp({ store, env: ENV })
      const { tokens, refresh } = await connectApp(app, await signUpOwner(app))
      const tries = Array.from({ length: 8 }, () => refresh(tokens.refresh_token ?? ''))
      const settled = await Promise.allSettled(tries)
      const got = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      expect(got).toHaveLength(1)
      expect(await pingStatus(app, got[0]?.access_token ?? '')).toBe(401)
    })
  })
})

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

const postForm = (app: TestApp, endpoint: 'token' | 'revoke', form: Record<string, string>) =>
  app.call('POST', `/v1/mcp-oauth/${endpoint}`, undefined, {
    key: null,
    raw: new URLSearchParams(form).toString(),
    headers: FORM,
  })

async function authorisationRequest(clientId: string, verifier: string): Promise<URL> {
  const url = new URL(`${PUBLIC_URL}/authorize`)
  url.search = new URLSearchParams({
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    code_challenge: await o.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    resource: `${PUBLIC_URL}/mcp`,
  }).toString()
  return url
}
