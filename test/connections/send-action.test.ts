import { createHmac } from 'node:crypto'
import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sendAction } from '../../src/connections/send-action.ts'
import { requireExecutor } from '../../src/connections/executors/executor-table.ts'
import { findConnection } from '../../src/connections/rows.ts'
import { StoreUnavailable } from '../../src/store/errors.ts'
import { writeSecret } from '../../src/vault/secrets.ts'
import { createVault } from '../../src/vault/vault.ts'
import { eachStore } from '../stores.ts'
import { insertTestConnection, ACTIVE_RUN, openTestContext, openUpstreamServer } from './test-context.ts'
import { respondJson } from '../fake-upstream.ts'

const CANARY = 'canary-5ecret-value'
const send = {
  capability: 'send_email',
  payload: { to: 'a@b.test', body: 'hello' },
  idempotencyKey: 'apr_1',
  runSignal: ACTIVE_RUN,
}

eachStore((store) => {
  test('email posts the payload as it was decided to api_url with the bearer secret and the approval id', async () => {
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

  test('what is wrong is kept on the record until it works again', async () => {
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

describe('named failures, before anything leaves', () => {
  test('an email connection without api_url reports the missing api_url', async () => {
    const { ctx } = await openTestContext()
    const mail = await insertTestConnection(ctx, { kind: 'email', name: 'mail' })
    expect(await sendAction(ctx, mail, send)).toMatchObject({
      outcome: 'failed',
      status: null,
      error: "connection 'mail' has no api_url in its config",
    })
  })

  test('a kind without an executor reports it', async () => {
    const { ctx } = await openTestContext()
    const fax = await insertTestConnection(ctx, { kind: 'fax' })
    expect(await sendAction(ctx, fax, send)).toMatchObject({ outcome: 'failed', error: "no executor for kind 'fax'" })
    expect(() => requireExecutor(ctx, 'webhook', 'read')).toThrow("no executor for kind 'webhook'")
    expect(() => requireExecutor(ctx, 'broker', 'act')).toThrow("no executor for kind 'broker'")
  })

  test('a connection that was deleted since the run began is gone', async () => {
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
    ['vault:never', /no secret was written yet/],
  ])('a secret that %s does not give sends nothing', async (secret_ref, error) => {
    const { ctx } = await openTestContext()
    const server = await openUpstreamServer((_, response) => response.end())
    const crm = await insertTestConnection(ctx, { config: { api_url: server.url }, secret_ref })
    const result = await sendAction(ctx, crm, send)
    expect(result).toMatchObject({ outcome: 'failed', error: expect.stringMatching(error) })
    expect(server.connections()).toBe(0)
  })

  test('a secret of another key sends nothing and says so', async () => {
    const { ctx, scope } = await openTestContext()
    const server = await openUpstreamServer((_, response) => response.end())
    const crm = await insertTestConnection(ctx, { config: { api_url: server.url } })
    await writeSecret({ ...ctx, vault: createVault(Buffer.alloc(32, 7)) }, scope, crm, CANARY)
    expect((await sendAction(ctx, crm, send)).error).toContain('sealed with another key')
    expect(server.connections()).toBe(0)
  })

  test('a secret that no header can carry is not sent and not told', async () => {
    const { ctx, scope } = await openTestContext()
    const crm = await insertTestConnection(ctx, { config: { api_url: 'http://127.0.0.1:9' } })
    await writeSecret(ctx, scope, crm, `${CANARY}\r\nx: y`)
    const { error } = await sendAction(ctx, crm, send)
    expect(error).toContain('characters that a header cannot carry')
    expect(error).not.toContain(CANARY)
  })
})

describe('a run that is over before anything left', () => {
  /** What happens while the secret is opened, and how the action ends. */
  async function whileOpening(happens: (run: { aborted: boolean }) => void) {
    const { ctx, scope } = await openTestContext()
    const server = await openUpstreamServer((_, response) => response.end())
    const crm = await insertTestConnection(ctx, { config: { api_url: server.url } })
    await writeSecret(ctx, scope, crm, CANARY)
    const over = { aborted: false }
    const open: typeof ctx.vault.open = (envelope, where) => {
      happens(over)
      return ctx.vault.open(envelope, where)
    }
    const result = await sendAction({ ...ctx, vault: { ...ctx.vault, open } }, crm, { ...send, runSignal: over })
    return { result, calls: server.received.length, connection: await findConnection(ctx.db, crm.id) }
  }
  const withdrawn = { outcome: 'failed', error: expect.stringMatching(/^withdrawn/) }

  test('sends nothing, and says nothing about the connection', async () => {
    const { result, calls, connection } = await whileOpening((run) => {
      run.aborted = true
    })
    expect(result).toMatchObject(withdrawn)
    expect(calls).toBe(0)
    expect(connection).toMatchObject({ last_error: null, last_ok_at: null })
  })

  test('waits for the store no longer', async () => {
    const { result, calls } = await whileOpening((run) => {
      run.aborted = true
      throw new StoreUnavailable(new Error('cut'))
    })
    expect(result).toMatchObject(withdrawn)
    expect(calls).toBe(0)
  })

  test('one that goes on waits for it', async () => {
    let times = 0
    const { result, calls } = await whileOpening(() => {
      if (times++ === 0) throw new StoreUnavailable(new Error('cut'))
    })
    expect(result).toMatchObject({ outcome: 'ok' })
    expect(calls).toBe(1)
  })

  test('a fault of the service has an outcome too', async () => {
    const { result, calls } = await whileOpening(() => {
      throw new Error('broken')
    })
    expect(result).toMatchObject({ outcome: 'failed', error: 'internal error' })
    expect(calls).toBe(0)
  })
})

describe('outcomes', () => {
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
  ])('upstream status %i is %s', async (status, outcome) => {
    const { ctx } = await openTestContext()
    const server = await openUpstreamServer((_, response) =>
      response.writeHead(status, { location: 'http://127.0.0.1:9/' }).end(),
    )
    const crm = await insertTestConnection(ctx, { config: { api_url: server.url } })
    expect(await sendAction(ctx, crm, send)).toMatchObject({ outcome, status, ok: outcome === 'ok' })
    expect(server.received).toHaveLength(1)
  })

  test('a connection that breaks after the request left is unknown', async () => {
    const { ctx } = await openTestContext()
    const server = createServer((socket) => socket.once('data', () => socket.destroy()))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    const crm = await insertTestConnection(ctx, { config: { api_url: `http://127.0.0.1:${port}` } })
    expect(await sendAction(ctx, crm, send)).toMatchObject({ outcome: 'unknown', ok: false, status: null })
  })

  test('a time-out is unknown', async () => {
    const { ctx, clock } = await openTestContext()
    const server = await openUpstreamServer(() => clock.jump(20_000))
    const crm = await insertTestConnection(ctx, { config: { api_url: server.url } })
    expect(await sendAction(ctx, crm, send)).toMatchObject({
      outcome: 'unknown',
      error: 'the other side took too long',
    })
  })

  test('a closed port is a clean failure', async () => {
    const { ctx } = await openTestContext()
    const crm = await insertTestConnection(ctx, { config: { api_url: 'http://127.0.0.1:9/' } })
    expect(await sendAction(ctx, crm, send)).toMatchObject({ outcome: 'failed', status: null })
  })

  test('an answer that is too large still says that it was done', async () => {
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

describe('answers that no store could keep', () => {
  test.each([
    ['a hundred thousand levels', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['half a character', '{"a":"\\ud800"}'],
    ['no json at all', '{"a":'],
  ])('%s come back as text', async (_, body) => {
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

  test('a store that is away does not hide that the action was done', async () => {
    const { ctx, logged } = await openTestContext()
    const server = await openUpstreamServer((_, response) => response.end())
    const crm = await insertTestConnection(ctx, { config: { api_url: server.url } })
    const away = { ...ctx.store, transact: () => Promise.reject(new Error('away')) }
    expect(await sendAction({ ...ctx, store: away }, crm, send)).toMatchObject({ outcome: 'ok' })
    expect(logged.join()).toContain('health of a connection not noted')
  })
})

describe('secrets stay inside', () => {
  test('an upstream that echoes the secret in any form shows nothing of it', async () => {
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
    const seen = JSON.stringify([await sendAction(ctx, crm, send), await findConnection(ctx.db, crm.id), logged])
    for (const form of [
      CANARY,
      Buffer.from(CANARY).toString('base64').slice(4, -4),
      Buffer.from(CANARY).toString('hex'),
    ])
      expect(seen).not.toContain(form)
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${CANARY}`)
  })

  test('a redirect takes the secret nowhere', async () => {
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

describe('webhook', () => {
  const deliver = async (secret: string | null) => {
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
  ])('is signed by the Standard Webhooks headers with a secret that is %s', async (_, secret, key) => {
    const { result, request } = await deliver(secret)
    expect(result).toMatchObject({ outcome: 'ok', result: 'thanks' })
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = request?.headers ?? {}
    const mac = createHmac('sha256', key)
      .update(`${String(id)}.${String(at)}.${request?.body}`)
      .digest('base64')
    expect({ id, signature }).toEqual({ id: 'apr_1', signature: `v1,${mac}` })
    expect(Number(at)).toBe(Date.UTC(2026, 0, 2) / 1000)
    expect(request?.headers.authorization).toBeUndefined()
  })

  test('goes unsigned without a secret', async () => {
    const { request } = await deliver(null)
    expect(request?.headers['webhook-signature']).toBeUndefined()
    expect(request?.body).toBe(JSON.stringify(send.payload))
  })
})
