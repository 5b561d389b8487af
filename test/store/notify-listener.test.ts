import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { NotifyListener } from '../../src/store/postgres/notify-listener.ts'
import { StoreClock } from '../../src/store/postgres/store-clock.ts'
import { createDatabase } from '../postgres.ts'

async function replicaOn(url: string, companyMs: number) {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  const wire = new NotifyListener({
    url,
    pool,
    clock: new StoreClock(),
    warn: () => {},
    onTimeout: () => {},
    peerTimeoutMs: companyMs,
  })
  const heard: string[] = []
  const waiting: { topic: string; found: () => void }[] = []
  void wire.listen((topic) => {
    heard.push(topic)
    for (const one of waiting) if (one.topic === topic) one.found()
  })
  onTestFinished(async () => {
    wire.close()
    await pool.end()
  })
  const hears = (topic: string) => new Promise<void>((found) => waiting.push({ topic, found }))
  return { wire, heard, hears }
}

/** Everything that is said on the channel, by a connection that is no replica. */
async function overhear(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  const origins = new Set<string>()
  const topics: string[] = []
  const pulses: (() => void)[] = []
  client.on('notification', ({ payload }) => {
    const [origin = '', ...said] = payload?.split(' ') ?? []
    origins.add(origin)
    topics.push(...said)
    for (const beat of pulses.splice(0)) beat()
  })
  await client.query('listen svc_notifications')
  return { origins, topics, pulse: () => new Promise<void>((resolve) => pulses.push(resolve)) }
}

test('a replica that is alone rings no bells in the database, and does as soon as it has company', async () => {
  const url = await createDatabase()
  const said = await overhear(url)
  const lone = await replicaOn(url, 0)
  await said.pulse()
  lone.wire.notify(['unheard'])
  await said.pulse()
  expect(said).toMatchObject({ topics: [], origins: { size: 1 } })

  const one = await replicaOn(url, 60_000)
  const two = await replicaOn(url, 60_000)
  while (said.origins.size < 3) await said.pulse()
  const heard = two.hears('task:1')
  one.wire.notify(['task:1'])
  await heard
  expect(one.heard).not.toContain('task:1')
})
