import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { NotifyListener } from '../../../src/platform/store/postgres/notify-listener.ts'
import { DatabaseServers } from '../../../src/platform/store/postgres/primary-client.ts'
import { StoreClock } from '../../../src/platform/store/postgres/store-clock.ts'
import { createDatabase } from '../../postgres.ts'

/** A replica with this peer timeout, and the topics that it receives. */
async function createReplica(url: string, peerTimeoutMs: number) {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  const listener = new NotifyListener({
    sessionName: 'test',
    servers: new DatabaseServers(url),
    pool,
    clock: new StoreClock(),
    warn: () => {},
    onTimeout: () => {},
    peerTimeoutMs,
  })
  const received: string[] = []
  const waiting: { topic: string; resolve: () => void }[] = []
  void listener.listen((topic) => {
    received.push(topic)
    for (const one of waiting) if (one.topic === topic) one.resolve()
  })
  onTestFinished(async () => {
    listener.close()
    await pool.end()
  })
  const receives = (topic: string) => new Promise<void>((resolve) => waiting.push({ topic, resolve }))
  return { listener, received, receives }
}

/** Records everything that is sent on the channel, with a connection that is not a replica. */
async function recordChannel(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  const origins = new Set<string>()
  const topics: string[] = []
  const waiting: (() => void)[] = []
  client.on('notification', ({ payload }) => {
    const [origin = '', ...sentTopics] = payload?.split(' ') ?? []
    origins.add(origin)
    topics.push(...sentTopics)
    for (const resolve of waiting.splice(0)) resolve()
  })
  await client.query('listen svc_change_hints')
  return { origins, topics, nextMessage: () => new Promise<void>((resolve) => waiting.push(resolve)) }
}

test('a replica without others sends no topics, and replicas on one database send them to each other', async () => {
  const url = await createDatabase()
  const channel = await recordChannel(url)
  const single = await createReplica(url, 0)
  await channel.nextMessage()
  single.listener.publish(['not-sent'])
  await channel.nextMessage()
  expect(channel).toMatchObject({ topics: [], origins: { size: 1 } })

  const one = await createReplica(url, 60_000)
  const two = await createReplica(url, 60_000)
  while (channel.origins.size < 3) await channel.nextMessage()
  const received = two.receives('task:1')
  one.listener.publish(['task:1'])
  await received
  expect(one.received).not.toContain('task:1')
})
