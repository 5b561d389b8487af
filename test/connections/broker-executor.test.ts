import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { requireBroker } from '../../src/connections/broker/rest-client.ts'
import { brokerUserId, refreshBrokerAccount } from '../../src/connections/broker/broker-account.ts'
import { changeConnectionSettings, removeConnection } from '../../src/connections/setup/connections.ts'
import { readThroughConnection } from '../../src/connections/actions/read-through.ts'
import { findConnection } from '../../src/connections/connection/rows.ts'
import { sendAction } from '../../src/connections/actions/send-action.ts'
import { openFakeBroker } from './broker/fake-broker.ts'
import { eachStore, type StoreKind } from '../stores.ts'
import { ACTIVE_RUN, insertTestConnection, openTestContext, PROJECT } from './test-context.ts'

const KEY = 'broker-k3y'
const gmail = {
  kind: 'broker',
  name: 'gmail',
  config: { toolkit: 'gmail', read_tools: ['GMAIL_LIST'], connected_account_id: 'ca_9' },
}
const send = {
  capability: 'GMAIL_SEND_EMAIL',
  payload: { to: 'a@b.test' },
  idempotencyKey: 'apr_1',
  runSignal: ACTIVE_RUN,
}

async function contextWithBroker(store: StoreKind = 'sqlite') {
  const server = await openFakeBroker()
  // BROKER_BASE_URL is the operator's setting, so its private address needs no entry in SVC_EGRESS_ALLOW.
  const context = await openTestContext({
    store,
    env: { BROKER_API_KEY: KEY, BROKER_BASE_URL: server.url, SVC_EGRESS_ALLOW: '' },
  })
  return { ...context, server }
}

eachStore((store) => {
  test('an account stays pending until the broker reports it as ACTIVE; then the connection is connected', async () => {
    const { ctx, server } = await contextWithBroker(store)
    const broker = requireBroker(ctx)
    server.accounts.set('ca_1', { status: 'INITIATED', user_id: PROJECT })
    const connection = await insertTestConnection(ctx, {
      ...gmail,
      config: { toolkit: 'gmail' },
      pending_account: 'ca_1',
    })
    expect(await refreshBrokerAccount(ctx, broker, connection)).toMatchObject({ status: 'INITIATED', active: false })
    expect((await findConnection(ctx.db, connection.id))?.config).toEqual({ toolkit: 'gmail' })
    server.authorise('ca_1')
    expect(await refreshBrokerAccount(ctx, broker, connection)).toMatchObject({ status: 'ACTIVE', active: true })
    const connected = await findConnection(ctx.db, connection.id)
    expect(connected).toMatchObject({
      pending_account: null,
      config: { toolkit: 'gmail', connected_account_id: 'ca_1' },
    })
  })

  test('concurrent first actions after an authorisation all succeed', async () => {
    const { ctx, server } = await contextWithBroker(store)
    server.accounts.set('ca_1', { status: 'ACTIVE', user_id: PROJECT })
    const connection = await insertTestConnection(ctx, {
      ...gmail,
      config: { toolkit: 'gmail' },
      pending_account: 'ca_1',
    })
    const keys = ['apr_1', 'apr_2', 'apr_3', 'apr_4']
    const results = await Promise.all(
      keys.map((idempotencyKey) => sendAction(ctx, connection, { ...send, idempotencyKey })),
    )
    expect(results.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok', 'ok'])
    const entries = await ctx.db
      .selectFrom('audit_entries')
      .where('action', '=', 'connection.connected')
      .selectAll()
      .execute()
    expect(entries).toHaveLength(1)
  })

  test('an account is stored in the current connection, also if it changed since it was read', async () => {
    const { ctx, scope, server } = await contextWithBroker(store)
    const broker = requireBroker(ctx)
    server.accounts.set('ca_1', { status: 'ACTIVE', user_id: PROJECT })
    const read = await insertTestConnection(ctx, { ...gmail, config: { toolkit: 'gmail' }, pending_account: 'ca_1' })
    const config = { toolkit: 'gmail', read_tools: ['GMAIL_LIST'] }
    await changeConnectionSettings(ctx, scope, read, { config })
    const { active, connection } = await refreshBrokerAccount(ctx, broker, read)
    expect({ active, config: connection.config }).toEqual({
      active: true,
      config: { ...config, connected_account_id: 'ca_1' },
    })
    const other = await insertTestConnection(ctx, {
      ...gmail,
      name: 'x',
      config: { toolkit: 'x' },
      pending_account: 'ca_1',
    })
    await changeConnectionSettings(ctx, scope, other, { config: { toolkit: 'y' } })
    expect(await refreshBrokerAccount(ctx, broker, other)).toMatchObject({ status: 'INACTIVE', active: false })
    const deleted = await insertTestConnection(ctx, {
      ...gmail,
      name: 'z',
      config: { toolkit: 'z' },
      pending_account: 'ca_1',
    })
    await removeConnection(ctx, scope, deleted)
    expect(await refreshBrokerAccount(ctx, broker, deleted)).toMatchObject({ status: 'INACTIVE', active: false })
  })

  test('an ACTIVE account of another user is never stored', async () => {
    const { ctx, server } = await contextWithBroker(store)
    server.accounts.set('ca_1', { status: 'ACTIVE', user_id: 'prj_other' })
    const connection = await insertTestConnection(ctx, {
      ...gmail,
      config: { toolkit: 'gmail' },
      pending_account: 'ca_1',
    })
    expect(await refreshBrokerAccount(ctx, requireBroker(ctx), connection)).toMatchObject({
      status: 'INACTIVE',
      active: false,
    })
    expect(await sendAction(ctx, connection, send)).toMatchObject({ outcome: 'failed' })
    expect((await findConnection(ctx.db, connection.id))?.config).toEqual({ toolkit: 'gmail' })
  })
})

describe('broker actions', () => {
  test('a broker API key that is not allowed in a header fails the action and is not shown', async () => {
    const { ctx } = await openTestContext({ env: { BROKER_API_KEY: `${KEY}\n` } })
    const result = await sendAction(ctx, await insertTestConnection(ctx, gmail), send)
    expect(result).toMatchObject({ outcome: 'failed', error: expect.stringContaining('a header contains characters') })
    expect(JSON.stringify(result)).not.toContain(KEY)
  })

  test("an action runs the tool of its slug as the connection's user, with the approval id", async () => {
    const { ctx, server } = await contextWithBroker()
    const connection = await insertTestConnection(ctx, { ...gmail, owner_kind: 'client', owner_id: 'cli_7' })
    expect(await sendAction(ctx, connection, send)).toEqual({
      outcome: 'ok',
      ok: true,
      status: 200,
      result: { sent: true },
      error: null,
    })
    const [request] = server.received
    expect(request).toMatchObject({ method: 'POST', url: '/api/v3.1/tools/execute/GMAIL_SEND_EMAIL' })
    expect(request?.headers).toMatchObject({ 'x-api-key': KEY, 'idempotency-key': 'apr_1' })
    expect(JSON.parse(request?.body ?? '')).toEqual({
      user_id: `${PROJECT}:cli_7`,
      connected_account_id: 'ca_9',
      arguments: send.payload,
    })
  })

  test('an action before the authorisation fails and says what to do', async () => {
    const { ctx, server } = await contextWithBroker()
    const connection = await insertTestConnection(ctx, { ...gmail, config: { toolkit: 'gmail' } })
    const error = "connection 'gmail' is not connected yet: authorise the toolkit first"
    expect(await sendAction(ctx, connection, send)).toMatchObject({ outcome: 'failed', error })
    expect(server.received).toHaveLength(0)
  })

  test('the first action finds an authorisation that was completed meanwhile', async () => {
    const { ctx, server } = await contextWithBroker()
    server.accounts.set('ca_1', { status: 'ACTIVE', user_id: PROJECT })
    const connection = await insertTestConnection(ctx, {
      ...gmail,
      config: { toolkit: 'gmail' },
      pending_account: 'ca_1',
    })
    expect(await sendAction(ctx, connection, send)).toMatchObject({ outcome: 'ok' })
  })

  test.each([
    [200, { data: null, successful: false, error: 'quota exceeded' }, 'failed', 'quota exceeded'],
    [200, { data: {} }, 'unknown', 'broker answered 200'],
    [200, 'what?', 'unknown', 'broker answered 200'],
    [404, { error: { message: 'no such tool' } }, 'failed', 'no such tool'],
    [401, { error: `key ${KEY} is wrong` }, 'failed', 'key [secret] is wrong'],
    [504, {}, 'unknown', 'broker answered 504'],
  ])('a broker response %i %j has the outcome %s', async (status, body, outcome, error) => {
    const { ctx, server } = await contextWithBroker()
    server.state.tool = () => ({ status, body })
    const connection = await insertTestConnection(ctx, gmail)
    expect(await sendAction(ctx, connection, send)).toMatchObject({ outcome, status, ok: false, error })
  })

  test('a too large broker response has the outcome unknown', async () => {
    const { ctx, server } = await contextWithBroker()
    server.state.tool = () => ({ status: 200, body: { successful: false, data: 'x'.repeat(300 * 1024) } })
    expect(await sendAction(ctx, await insertTestConnection(ctx, gmail), send)).toMatchObject({
      outcome: 'unknown',
      result: null,
    })
  })

  test('a broker that does not respond has the outcome unknown', async () => {
    const { ctx, server, clock } = await contextWithBroker()
    server.state.tool = () => {
      clock.jump(20_000)
      return { status: 200, body: {} }
    }
    expect(await sendAction(ctx, await insertTestConnection(ctx, gmail), send)).toMatchObject({ outcome: 'unknown' })
  })

  test.each(['../identity/accounts', 'A/B', 'A?x=1', 'A B', ''])('%j is not a tool slug', async (capability) => {
    const { ctx, server } = await contextWithBroker()
    expect(await sendAction(ctx, await insertTestConnection(ctx, gmail), { ...send, capability })).toMatchObject({
      outcome: 'failed',
    })
    expect(server.received).toHaveLength(0)
  })

  test('no payload of the agent changes the user or the account', async () => {
    const { ctx, server } = await contextWithBroker()
    const connection = await insertTestConnection(ctx, gmail)
    const keys = fc.constantFrom(
      'user_id',
      'connected_account_id',
      'entity_id',
      'toolkit',
      'arguments',
      '__proto__',
      'x',
    )
    const payloads = fc.dictionary(keys, fc.constantFrom('prj_other', 'ca_other'))
    await fc.assert(
      fc.asyncProperty(payloads, async (payload) => {
        await sendAction(ctx, connection, { ...send, payload })
        const { user_id, connected_account_id } = JSON.parse(server.received.at(-1)?.body ?? '')
        expect({ user_id, connected_account_id }).toEqual({ user_id: PROJECT, connected_account_id: 'ca_9' })
      }),
      { numRuns: 40 },
    )
    expect(brokerUserId({ ...connection, owner_kind: 'client', owner_id: 'cli_1' })).toBe(`${PROJECT}:cli_1`)
  })
})

describe('broker reads', () => {
  const read = { capability: 'GMAIL_LIST', path: null, arguments: { q: 'x' } }

  test('a read runs a declared tool with its arguments', async () => {
    const { ctx, server } = await contextWithBroker()
    const result = await readThroughConnection(ctx, await insertTestConnection(ctx, gmail), read)
    expect(result).toEqual({ ok: true, status: 200, content_type: 'application/json', body: { sent: true } })
    expect(JSON.parse(server.received[0]?.body ?? '').arguments).toEqual({ q: 'x' })
  })

  test.each([['GMAIL_SEND_EMAIL'], ['gmail_list'], ['GMAIL_LIST2']])(
    '%s is not a declared read: use the action proxy',
    async (capability) => {
      const { ctx, server } = await contextWithBroker()
      const connection = await insertTestConnection(ctx, gmail)
      await expect(readThroughConnection(ctx, connection, { ...read, capability })).rejects.toThrow(
        /is not a declared read .*: use the action proxy/,
      )
      expect(server.received).toHaveLength(0)
    },
  )

  test('without read_tools no tool is a declared read', async () => {
    const { ctx } = await contextWithBroker()
    const connection = await insertTestConnection(ctx, {
      ...gmail,
      config: { toolkit: 'gmail', connected_account_id: 'ca_9' },
    })
    await expect(readThroughConnection(ctx, connection, read)).rejects.toThrow(/not a declared read/)
  })
})
