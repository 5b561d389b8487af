import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { authorizeRequest } from '../../../src/connections/auth/authorize-request.ts'
import { readThroughConnection } from '../../../src/connections/actions/read-through.ts'
import { findConnection } from '../../../src/connections/connection/rows.ts'
import { sendAction } from '../../../src/connections/actions/send-action.ts'
import { testConnection } from '../../../src/connections/setup/test-connection.ts'
import { writeSecret } from '../../../src/connections/setup/write-secret.ts'
import { sharedApp } from '../../app.ts'
import { type ReceivedRequest, respondJson } from '../../fake-upstream.ts'
import { findLeaks, readRowTexts } from '../../security/find-leaks.ts'
import { anyStore } from '../../stores.ts'
import { ACTIVE_RUN, insertTestConnection, openTestContext, openUpstreamServer } from '../test-context.ts'

const CANARY = 'canary 5ecret+va/lue'
const ACTION = { capability: 'crm', payload: { a: 1 }, idempotencyKey: 'apr_1', runSignal: ACTIVE_RUN }

/** A custom connection with this `config.auth`, its secret, and a server that echoes what it receives. */
async function connectionWithAuth(store: 'sqlite' | 'postgres', auth: Record<string, string>) {
  const context = await openTestContext({ store })
  const server = await openUpstreamServer(({ url, headers, body }, response) =>
    respondJson(response, url.startsWith('/broken') ? 500 : 200, { url, headers, body }),
  )
  const config = { api_url: `${server.url}/act?x=1`, base_url: server.url, auth }
  const connection = await insertTestConnection(context.ctx, { config })
  await writeSecret(context.ctx, context.scope, connection, CANARY)
  return { ...context, server, connection }
}

const SIGNED = ['accept', 'host', 'idempotency-key', 'x-amz-date']

/** The signature as AWS's documentation computes it, for the received request. */
function expectedSignature(request: ReceivedRequest | undefined): string {
  const sha = (text: string) => createHash('sha256').update(text).digest('hex')
  const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const [path = '', query = ''] = (request?.url ?? '').split('?')
  const headers = SIGNED.map((name) => `${name}:${String(request?.headers[name])}\n`).join('')
  const canonical = ['POST', path, query, headers, SIGNED.join(';'), sha(request?.body ?? '')].join('\n')
  const scope = ['20260102', 'eu-central-1', 'ses', 'aws4_request']
  const toSign = ['AWS4-HMAC-SHA256', request?.headers['x-amz-date'], scope.join('/'), sha(canonical)].join('\n')
  const key = scope.reduce<string | Buffer>(mac, `AWS4${CANARY}`)
  return mac(key, toSign).toString('hex')
}

anyStore((store) => {
  test.each([
    ['bearer', { type: 'bearer' }, { authorization: `Bearer ${CANARY}` }],
    ['header', { type: 'header', name: 'X-Api-Key' }, { 'x-api-key': CANARY }],
    [
      'header with a prefix',
      { type: 'header', name: 'Authorization', prefix: 'Token ' },
      { authorization: `Token ${CANARY}` },
    ],
    [
      'basic',
      { type: 'basic', username: 'AC1' },
      { authorization: `Basic ${Buffer.from(`AC1:${CANARY}`).toString('base64')}` },
    ],
  ])('%s: actions, reads and tests carry the credential, and no result shows it', async (_, auth, headers) => {
    const { ctx, scope, server, connection } = await connectionWithAuth(store, auth)
    const results = [
      await sendAction(ctx, connection, ACTION),
      await readThroughConnection(ctx, connection, { capability: 'crm', path: 'a?b=1', arguments: null }),
      await testConnection(ctx, scope, connection),
    ]
    expect(server.received).toHaveLength(3)
    for (const request of server.received) expect(request.headers).toMatchObject(headers)
    expect(findLeaks({ secret: CANARY }, new Map([['results', JSON.stringify(results)]]))).toEqual([])
    expect(JSON.stringify(results[0])).toContain('[secret]')
  })

  test('query: the secret is a parameter of the URL and appears in no result, log, row or health error', async () => {
    const { ctx, scope, server, connection, logged } = await connectionWithAuth(store, {
      type: 'query',
      name: 'api_key',
    })
    const read = (path: string) => readThroughConnection(ctx, connection, { capability: 'crm', path, arguments: null })
    const results: unknown[] = [
      await sendAction(ctx, connection, ACTION),
      // A parameter of the same name from the agent is replaced.
      await read('a?api_key=mine&b=1'),
      await read('broken'),
      await testConnection(ctx, scope, connection),
    ]
    const keys = server.received.map(({ url }) => new URL(url, server.url).searchParams.getAll('api_key'))
    expect(keys).toEqual([[CANARY], [CANARY], [CANARY], [CANARY]])
    expect(new URL(server.received[0]?.url ?? '', server.url).searchParams.get('x')).toBe('1')
    await server.close()
    results.push(await sendAction(ctx, connection, ACTION), await testConnection(ctx, scope, connection))
    results.push(await read('a').catch((error: Error) => error.message))
    results.push(await findConnection(ctx.db, connection.id))
    const rows = await readRowTexts({ ctx })
    const texts = new Map([...rows, ['results', JSON.stringify(results)], ['log', logged.join('\n')]])
    expect(findLeaks({ secret: CANARY }, texts)).toEqual([])
  })

  test('sigv4: the server can verify the signature over body, headers and query', async () => {
    const auth = { type: 'sigv4', region: 'eu-central-1', service: 'ses', access_key_id: 'AKIDEXAMPLE' }
    const { ctx, server, connection } = await connectionWithAuth(store, auth)
    expect(await sendAction(ctx, connection, ACTION)).toMatchObject({ outcome: 'ok' })
    const [request] = server.received
    expect(request?.headers.authorization).toBe(
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-central-1/ses/aws4_request, SignedHeaders=${SIGNED.join(';')}, Signature=${expectedSignature(request)}`,
    )
  })

  const shared = sharedApp({ store })

  test.each([
    [{ type: 'oauth3' }, "field 'config.auth.type' must be one of bearer, header"],
    ['token', "field 'config.auth' must be an object"],
    [{}, "field 'config.auth.type' is required"],
    [{ type: 'header' }, "field 'config.auth.name' is required"],
    [{ type: 'header', name: 'x y' }, "field 'config.auth.name' must be the name of a header"],
    [{ type: 'header', name: 'Host' }, "field 'config.auth.name' must not be a header of HTTP itself"],
    [{ type: 'header', name: 'x', prefix: 'a\r\nb: c' }, "field 'config.auth.prefix' must be printable ASCII"],
    [{ type: 'query' }, "field 'config.auth.name' is required"],
    [{ type: 'basic' }, "field 'config.auth.username' is required"],
    [{ type: 'basic', username: 'a:b' }, "field 'config.auth.username' must not contain a colon"],
    [{ type: 'sigv4', region: 'x', service: 'y' }, "field 'config.auth.access_key_id' is required"],
    [{ type: 'oauth2' }, "field 'config.auth.grant' is required"],
    [
      { type: 'oauth2', grant: 'password' },
      "field 'config.auth.grant' must be one of authorization_code, client_credentials",
    ],
    [{ type: 'oauth2', grant: 'client_credentials', client_id: 'c' }, "field 'config.auth.token_url' is required"],
    [
      { type: 'oauth2', grant: 'client_credentials', client_id: 'c', token_url: 'file:///etc/passwd' },
      "field 'config.auth.token_url' must be an http or https url",
    ],
    [
      { type: 'oauth2', grant: 'client_credentials', client_id: 'c', token_url: 'https://a:b@c.test/' },
      "field 'config.auth.token_url' must not carry a user or password",
    ],
    [
      {
        type: 'oauth2',
        grant: 'authorization_code',
        client_id: 'c',
        token_url: 'https://c.test/',
        authorize_url: 'javascript:alert(1)',
      },
      "field 'config.auth.authorize_url' must be an http or https url",
    ],
  ])('config.auth %j is a 400 that names the field', async (auth, error) => {
    const app = shared()
    const wrong = { kind: 'custom', name: 'crm', config: { base_url: 'https://a.test', auth } }
    expect(await app.call('POST', '/v1/connections', wrong)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining(error) },
    })
    const { body: created } = await app.call('POST', '/v1/connections', { ...wrong, config: {} })
    expect(await app.call('PUT', `/v1/connections/${created.id}`, { config: { auth } })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining(error) },
    })
    await app.call('DELETE', `/v1/connections/${created.id}`)
  })
})

describe("AWS's published signatures (aws-sig-v4-test-suite)", () => {
  test.each([
    ['get-vanilla', 'GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['post-vanilla', 'POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'get-vanilla-query-order-key-case',
      'GET',
      '/?Param2=value2&Param1=value1',
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
  ])('%s', async (_, method, path, signature) => {
    const { ctx, clock } = await openTestContext()
    clock.set(Date.UTC(2015, 7, 30, 12, 36))
    const auth = { type: 'sigv4', region: 'us-east-1', service: 'service', access_key_id: 'AKIDEXAMPLE' }
    const connection = await insertTestConnection(ctx, { config: { auth } })
    const request = { method, url: new URL(path, 'https://example.amazonaws.com'), headers: {} }
    const signed = await authorizeRequest(ctx, connection, 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', request)
    expect(signed.headers.authorization).toBe(
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
    )
  })
})
