import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createProxiedDatabase } from './tcp-proxy.ts'

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, query_timeout: 300, connectionTimeoutMillis: 300 })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end().catch(() => {}))
  return client
}

const one = (client: Client) => client.query('select 1 as one').then(({ rows }) => rows)

test('a wire through the proxy carries what is said, and a cut one neither that nor anything new until it heals', async () => {
  const { proxy } = await createProxiedDatabase()
  proxy.latencyMs = 5
  const client = await connected(proxy.url)
  expect(await one(client)).toEqual([{ one: 1 }])
  proxy.cut()
  await expect(one(client)).rejects.toThrow()
  await expect(connected(proxy.url)).rejects.toThrow()
  proxy.heal()
  expect(await one(await connected(proxy.url))).toEqual([{ one: 1 }])
})

test('a black hole is silent for old and new connections, and after it only new ones are good', async () => {
  const { proxy } = await createProxiedDatabase()
  const client = await connected(proxy.url)
  proxy.blackHole()
  await expect(one(client)).rejects.toThrow('timeout')
  await expect(connected(proxy.url)).rejects.toThrow('timeout')
  proxy.heal()
  expect(await one(await connected(proxy.url))).toEqual([{ one: 1 }])
})

test('a half-open connection is silent while new ones are good', async () => {
  const { proxy } = await createProxiedDatabase()
  const client = await connected(proxy.url)
  proxy.halfOpen()
  await expect(one(client)).rejects.toThrow('timeout')
  expect(await one(await connected(proxy.url))).toEqual([{ one: 1 }])
})

test.each([
  ['before', 0],
  ['after', 1],
] as const)('a wire cut %s the commit leaves %i rows', async (moment, left) => {
  const { proxy, database } = await createProxiedDatabase()
  const client = await connected(proxy.url)
  await client.query('create table kept (n int)')
  await client.query('begin')
  await client.query('insert into kept values (1)')
  const happened = proxy.cutAt('commit', moment)
  await expect(client.query('commit')).rejects.toThrow()
  await happened
  const direct = await connected(database)
  expect((await direct.query('select * from kept')).rows).toHaveLength(left)
})
