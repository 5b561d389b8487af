import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createProxiedDatabase } from './tcp-proxy.ts'

async function connectClient(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, query_timeout: 300, connectionTimeoutMillis: 300 })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end().catch(() => {}))
  return client
}

const selectOne = (client: Client) => client.query('select 1 as one').then(({ rows }) => rows)

test('the proxy forwards traffic; after a cut it refuses old and new connections until it heals', async () => {
  const { proxy } = await createProxiedDatabase()
  proxy.latencyMs = 5
  const client = await connectClient(proxy.url)
  expect(await selectOne(client)).toEqual([{ one: 1 }])
  proxy.cut()
  await expect(selectOne(client)).rejects.toThrow()
  await expect(connectClient(proxy.url)).rejects.toThrow()
  proxy.heal()
  expect(await selectOne(await connectClient(proxy.url))).toEqual([{ one: 1 }])
})

test('a black hole is silent for old and new connections; after it only new connections work', async () => {
  const { proxy } = await createProxiedDatabase()
  const client = await connectClient(proxy.url)
  proxy.blackHole()
  await expect(selectOne(client)).rejects.toThrow('timeout')
  await expect(connectClient(proxy.url)).rejects.toThrow('timeout')
  proxy.heal()
  expect(await selectOne(await connectClient(proxy.url))).toEqual([{ one: 1 }])
})

test('a half-open connection is silent while new connections work', async () => {
  const { proxy } = await createProxiedDatabase()
  const client = await connectClient(proxy.url)
  proxy.halfOpen()
  await expect(selectOne(client)).rejects.toThrow('timeout')
  expect(await selectOne(await connectClient(proxy.url))).toEqual([{ one: 1 }])
})

test.each([
  ['before', 0],
  ['after', 1],
] as const)('a connection cut %s the commit leaves %i rows', async (moment, rowCount) => {
  const { proxy, database } = await createProxiedDatabase()
  const client = await connectClient(proxy.url)
  await client.query('create table kept (n int)')
  await client.query('begin')
  await client.query('insert into kept values (1)')
  const disconnected = proxy.cutAt('commit', moment)
  await expect(client.query('commit')).rejects.toThrow()
  await disconnected
  const direct = await connectClient(database)
  expect((await direct.query('select * from kept')).rows).toHaveLength(rowCount)
})
