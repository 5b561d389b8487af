import { createHmac } from 'node:crypto'
import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { requireExecutor } from '../../src/connections/executors/executor-table.ts'
import { findConnection } from '../../src/connections/connection/rows.ts'
import { sendAction } from '../../src/connections/actions/send-action.ts'
import { writeSecret } from '../../src/connections/setup/write-secret.ts'
import { StoreUnavailable } from '../../src/platform/store/errors.ts'
import { createVault } from '../../src/identity/vault/vault.ts'
import { respondJson } from '../fake-upstream.ts'
import { anyStore } from '../stores.ts'
import { ACTIVE_RUN, insertTestConnection, openTestContext, openUpstreamServer } from './test-context.ts'

const CANARY = 'canary-5ecret-value'
const send = {
  capability: 'send_email',
  payload: { to: 'a@b.test', body: 'hello' },
  idempotencyKey: 'apr_1',
  runSignal: ACTIVE_RUN,
}

anyStore((store) => {
  test('an email action posts the approved payload to api_url with the secret and the approval id', async () => {
    const { ctx, scope } = await openTestContext({ store })
    const server = await openUpstreamServer((_, response) => respondJson(response, 202, { id: 'm1' }))
    const config = { api_url: `${server.url}/v3/send?x=1`, from: 'desk@shop.test' }
    const mail = await insertTestConnection(ctx, { kind: 'email', name: 'mail', config })
    await writeSecret(ctx, scope, mail, CANARY)
    expect(await sendAction(ctx, mail, send)).toEqual({
      outcome: 'ok',
      ok: true,
      status: 202,
      result: { id: 'm1' },
      error: null,
    })
    const [request] = server.received
    expect(request).toMatchObject({ method: 'POST', url: '/v3/send?x=1' })
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${CANARY}`,
      'idempotency-key': 'apr_1',
      'content-type': 'application/json',
    })
    expect(JSON.parse(request?.body ?? '')).toEqual(send.payload)
    expect(await findConnection(ctx.db, mail.id)).toMatchObject({ last_error: null, last_ok_at: expect.any(String) })
  })

  test('an error stays on the connection until an action succeeds', async () => {
    const { ctx } = await openTestContext({ store })
    let status = 401
    const server = await openUpstreamServer((_, response) => respondJson(response, status, {}))
    const mail = await insertTestConnection(ctx, { kind: 'email', config: { api_url: server.url } })
    await sendAction(ctx, mail, send)
    expect(await findConnection(ctx.db, mail.id)).toMatchObject({
      last_error: 'upstream answered 401',
      last_ok_at: null,
    })
    status = 200
    await sendAction(ctx, mail, send)
    expect(await findConnection(ctx.db, mail.id)).toMatchObject({ last_error: null, last_ok_at: expect.any(String) })
  })
})

describe('failures before the request is sent', () => {
  test('an email connection without api_url reports the missing api_url', async () => {
    const { ctx } = await openTestContext()
    const mail = await insertTestConnection(ctx, { kind: 'email', name: 'mail' })
    expect(await sendAction(ctx, mail, send)).toMatchObject({
      outcome: 'failed',
      status: null,
      error: "connection 'mail' has no api_url in its config",
    })
  })

  test('a connection kind without an executor is reported', async () => {
    const { ctx } = await openTestContext()
    const fax = await insertTestConnection(ctx, { kind: 'fax' })
    expect(await sendAction(ctx, fax, send)).toMatchObject({ outcome: 'failed', error: "no executor for kind 'fax'" })
    expect(() => requireExecutor(ctx, 'webhook', 'read')).toThrow("no executor for kind 'webhook'")
    expect(() => requireExecutor(ctx, 'broker', 'act')).toThrow("no executor for kind 'broker'")
  })

  test('an action fails if its connection was deleted after the run started', async () => {
    const { ctx } = await openTestContext()
    expect(await sendAction(ctx, { id: 'conn_gone' }, send)).toMatchObject({
      outcome: 'failed',
      error: 'no such connection',
    })
  })

  test('a private address is refused', async () => {
    const { ctx } = await openTestContext({ env: { SVC_EGRESS_ALLOW: '' } })
    const server = await openUpstreamServer((_, response) => response.end())
    const crm = await insertTestConnection(ctx, { config: { api_url: server.url } })
    expect(await sendAction(ctx, crm, send)).toMatchObject({
      outcome: 'failed',
      error: expect.stringContaining('destination is not allowed'),
    })
    expect(server.connections()).toBe(0)
  })

  test.each([
    ['env:MISSING', /'MISSING' is not set/],
    ['vault:never', /has no secret yet/],
  ])('nothing is sent if %s has no secret', async (secret_ref, error) => {
    const { ctx } = await openTestContext()
    const server = await openUpstreamServer((_, response) => response.end())
    const crm = await insertTestConnection(ctx, { config: { api_url: server.url }, secret_ref })
    const result = await sendAction(ctx, crm, send)
    expect(result).toMatchObject({ outcome: 'failed', error: expect.stringMatching(error) })
    expect(server.connections()).toBe(0)
  })

  test('nothing is sent if the secret was encrypted with another key', async () => {
    const { ctx, scope } = await openTestContext()
    const server = await openUpstreamServer((_, response) => response.end())
    const crm = await insertTestConnection(ctx, { config: { api_url: server.url } })
    await writeSecret({ ...ctx, vault: createVault(Buffer.alloc(32, 7)) }, scope, crm, CANARY)
    expect((await sendAction(ctx, crm, send)).error).toContain('encrypted with another key')
    expect(server.connections()).toBe(0)
  })

  test('a secret that is not allowed in a header is neither sent nor shown', async () => {
    const { ctx, scope } = await openTestContext()
    const crm = await insertTestConnection(ctx, { config: { api_url: 'http://127.0.0.1:9' } })
    await writeSecret(ctx, scope, crm, `${CANARY}\r\nx: y`)
    const { error } = await sendAction(ctx, crm, send)
    expect(error).toContain('characters that are not allowed in a header')
    expect(error).not.toContain(CANARY)
  })
})

describe('a run that ends before the request is sent', () => {
  /** Sends an action and calls `onOpen` while its secret is decrypted. */
  async function sendWhileOpening(onOpen: (run: { aborted: boolean }) => void) {
    const { ctx, scope } = await openTestContext()
    const server = await openUpstreamServer((_, response) => response.end())
    const crm = await insertTestConnection(ctx, { config: { api_url: server.url } })
    await writeSecret(ctx, scope, crm, CANARY)
    const runSignal = { aborted: false }
    const open: typeof ctx.vault.open = (envelope, location) => {
      onOpen(runSignal)
      return ctx.vault.open(envelope, location)
    }
    const result = await sendAction({ ...ctx, vault: { ...ctx.vault, open } }, crm, { ...send, runSignal })
    return { result, calls: server.received.length, connection: await findConnection(ctx.db, crm.id) }
  }
  const withdrawn = { outcome: 'failed', error: expect.stringMatching(/^withdrawn/) }

  test('nothing is sent after the run ended, and the connection health stays unchanged', async () => {
    const { result, calls, connection } = await sendWhileOpening((run) => {
      run.aborted = true
    })
    expect(result).toMatchObject(withdrawn)
    expect(calls).toBe(0)
    expect(connection).toMatchObject({ last_error: null, last_ok_at: null })
  })

  test('after the run ended an unavailable store is not retried', async () => {
    const { result, calls } = await sendWhileOpening((run) => {
      run.aborted = true
      throw new StoreUnavailable(new Error('cut'))
    })
    expect(result).toMatchObject(withdrawn)
    expect(calls).toBe(0)
  })

  test('while the run lasts an unavailable store is retried', async () => {
    let attempts = 0
    const { result, calls } = await sendWhileOpening(() => {
      if (attempts++ === 0) throw new StoreUnavailable(new Error('cut'))
    })
    expect(result).toMatchObject({ outcome: 'ok' })
    expect(calls).toBe(1)
  })

  test('an internal error has an outcome too', async () => {
    const { result, calls } = await sendWhileOpening(() => {
      throw new Error('broken')
    })
    expect(result).toMatchObject({ outcome: 'failed', error: 'internal error' })
    expect(calls).toBe(0)
  })
})

describe('action outcomes', () => {
  test.each([
    [200, 'ok'],
    [204, 'ok'],
    [302, 'failed'],
    [400, 'failed'],
    [409, 'failed'],
    [429, 'failed'],
    [500, 'failed'],
    [503, 'failed'],
    [303, 'unknown'],
    [502, 'unknown'],
    [504, 'unknown'],
    [520, 'unknown'],
    [524, 'unknown'],
    [599, 'unknown'],
  ])('the response status %i has the outcome %s', async (status, outcome) => {
    const { ctx } = await openTestContext()
    const server = await openUpstreamServer((_, response) =>
      response.writeHead(status, { location: 'http://127.0.0.1:9/' }).end(),
    )
    const crm = await insertTestConnection(ctx, { config: { api_url: server.url } })
    expect(await sendAction(ctx, crm, send)).toMatchObject({ outcome, status, ok: outcome === 'ok' })
    expect(server.received).toHaveLength(1)
  })

  test('a connection that closes after the request was sent has the outcome unknown', async () => {
    const { ctx } = await openTestContext()
    const server = createServer((socket) => socket.once('data', () => socket.destroy()))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    const crm = await insertTestConnection(ctx, { config: { api_url: `http://127.0.0.1:${port}` } })
    expect(await sendAction(ctx, crm, send)).toMatchObject({ outcome: 'unknown', ok: false, status: null })
  })

  test('a timeout has the outcome unknown', async () => {
    const { ctx, clock } = await openTestContext()
    const server = await openUpstreamServer(() => clock.jump(20_000))
    const crm = await insertTestConnection(ctx, { config: { api_url: server.url } })
    expect(await sendAction(ctx, crm, send)).toMatchObject({
      outcome: 'unknown',
      error: 'the server did not respond in time',
    })
  })

  test('a closed port has the outcome failed', async () => {
    const { ctx } = await openTestContext()
    const crm = await insertTestConnection(ctx, { config: { api_url: 'http://127.0.0.1:9/' } })
    expect(await sendAction(ctx, crm, send)).toMatchObject({ outcome: 'failed', status: null })
  })

  test('a too large response with status 200 has the outcome ok', async () => {
    const { ctx } = await openTestContext()
    const server = await openUpstreamServer((_, response) => response.end('x'.repeat(300 * 1024)))
    const crm = await insertTestConnection(ctx, { config: { api_url: server.url } })
    expect(await sendAction(ctx, crm, send)).toEqual({
      outcome: 'ok',
      ok: true,
      status: 200,
      result: null,
      error: null,
    })
  })
})

describe('responses that cannot be stored as json', () => {
  test.each([
    ['json with 100,000 levels', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['json with a lone surrogate', '{"a":"\\ud800"}'],
    ['invalid json', '{"a":'],
  ])('%s is returned as text', async (_, body) => {
    const { ctx } = await openTestContext()
    const server = await openUpstreamServer((_request, response) =>
      response.setHeader('content-type', 'application/json').end(body),
    )
    const crm = await insertTestConnection(ctx, { config: { api_url: server.url } })
    expect(await sendAction(ctx, crm, send)).toEqual({
      outcome: 'ok',
      ok: true,
      status: 200,
      result: body,
      error: null,
    })
  })

  test('an unavailable store does not hide that the action succeeded', async () => {
    const { ctx, logged } = await openTestContext()
    const server = await openUpstreamServer((_, response) => response.end())
    const crm = await insertTestConnection(ctx, { config: { api_url: server.url } })
    const unavailable = { ...ctx.store, transact: () => Promise.reject(new Error('store unavailable')) }
    expect(await sendAction({ ...ctx, store: unavailable }, crm, send)).toMatchObject({ outcome: 'ok' })
    expect(logged.join()).toContain('connection health was not recorded')
  })
})

describe('secrets in responses', () => {
  test('a secret that the server echoes in any form is masked', async () => {
    const { ctx, scope, logged } = await openTestContext()
    const forms = [
      CANARY,
      Buffer.from(`Bearer ${CANARY}`).toString('base64'),
      Buffer.from(CANARY).toString('hex'),
      encodeURIComponent(CANARY),
    ]
    const server = await openUpstreamServer(({ headers }, response) => respondJson(response, 400, { headers, forms }))
    const crm = await insertTestConnection(ctx, { config: { api_url: server.url } })
    await writeSecret(ctx, scope, crm, CANARY)
    const visible = JSON.stringify([await sendAction(ctx, crm, send), await findConnection(ctx.db, crm.id), logged])
    for (const form of [
      CANARY,
      Buffer.from(CANARY).toString('base64').slice(4, -4),
      Buffer.from(CANARY).toString('hex'),
    ])
      expect(visible).not.toContain(form)
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${CANARY}`)
  })

  test('a redirect does not send the secret to another server', async () => {
    const { ctx, scope } = await openTestContext()
    const second = await openUpstreamServer((_, response) => response.end())
    const first = await openUpstreamServer((_, response) => response.writeHead(307, { location: second.url }).end())
    const crm = await insertTestConnection(ctx, { config: { api_url: first.url } })
    await writeSecret(ctx, scope, crm, CANARY)
    expect(await sendAction(ctx, crm, send)).toMatchObject({
      outcome: 'failed',
      status: 307,
      error: 'upstream answered with a redirect',
    })
    expect(second.connections()).toBe(0)
  })
})

describe('webhook connections', () => {
  const sendWebhook = async (secret: string | null) => {
    const { ctx, scope } = await openTestContext()
    const server = await openUpstreamServer((_, response) => response.end('thanks'))
    const hook = await insertTestConnection(ctx, { kind: 'webhook', name: 'hook', config: { url: `${server.url}/in` } })
    if (secret) await writeSecret(ctx, scope, hook, secret)
    const result = await sendAction(ctx, hook, send)
    return { result, request: server.received[0] }
  }

  test.each([
    [
      'whsec_ and base64',
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64'),
    ],
    ['raw', 'a raw secret, äöü', Buffer.from('a raw secret, äöü')],
  ])('a webhook action is signed with Standard Webhooks headers if its secret is %s', async (_, secret, key) => {
    const { result, request } = await sendWebhook(secret)
    expect(result).toMatchObject({ outcome: 'ok', result: 'thanks' })
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = request?.headers ?? {}
    const mac = createHmac('sha256', key)
      .update(`${String(id)}.${String(at)}.${request?.body}`)
      .digest('base64')
    expect({ id, signature }).toEqual({ id: 'apr_1', signature: `v1,${mac}` })
    expect(Number(at)).toBe(Date.UTC(2026, 0, 2) / 1000)
    expect(request?.headers.authorization).toBeUndefined()
  })

  test('a webhook action without a secret is not signed', async () => {
    const { request } = await sendWebhook(null)
    expect(request?.headers['webhook-signature']).toBeUndefined()
    expect(request?.body).toBe(JSON.stringify(send.payload))
  })
})
