import { expect, onTestFinished, test } from 'vitest'
import { startApp } from '../../src/app.ts'
import { type EventChunk, LogFollowers } from '../../src/ctx/log-followers.ts'
import { catchUpFollowers } from '../../src/events/follow-log.ts'
import { EVENT_PAGE_SIZE } from '../../src/events/rows.ts'
import { type TestApp, testApp } from '../app.ts'
import {
  cancelTask,
  progressEvents,
  startScriptedTask,
  SCRIPTED_AGENT,
  appendAsRun,
  NO_RATE_LIMIT,
} from '../tasks/scripted-agent.ts'
import { eventIds, numbersUpTo, openStream, readWholeStream, eventsUrl } from './stream-reader.ts'

const FOLLOWERS = 100

/** Another replica on the same store, which only serves. */
async function servingReplica(app: TestApp) {
  const config = { ...app.ctx.config, maxConcurrentTasks: 0, dataDir: `${app.ctx.config.dataDir}-other` }
  const other = await startApp(config, app.ctx.world)
  onTestFinished(() => other.stop())
  return other
}

test('followers at another replica, however many, have every event once and in order', async () => {
  const app = await testApp({ store: 'postgres', env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT } })
  const other = await servingReplica(app)
  const id = await startScriptedTask(app)
  const there = `${other.url}/v1/tasks/${id}/events`
  const early = await Promise.all(Array.from({ length: FOLLOWERS }, () => openStream(there)))
  for (let i = 0; i < 30; i++) await appendAsRun(app, id, progressEvents(1 + (i % 7)))
  const late = await Promise.all(Array.from({ length: 20 }, () => openStream(there)))
  for (let i = 0; i < 30; i++) await appendAsRun(app, id, progressEvents(1 + (i % 7)))
  await cancelTask(app, id)
  const texts = await Promise.all([...early, ...late].map((reader) => reader.ended))
  const whole = await readWholeStream(eventsUrl(app, id))
  expect(new Set(texts)).toEqual(new Set([whole]))
  expect(eventIds(whole)).toEqual(numbersUpTo(eventIds(whole).length))
})

test('what a lost bell did not tell is found by looking at the logs that are followed', async () => {
  const app = await testApp({ store: 'postgres', env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT } })
  const other = await servingReplica(app)
  const id = await startScriptedTask(app)
  const reader = await openStream(`${other.url}/v1/tasks/${id}/events`)
  await reader.until(({ tail }) => tail.includes('task.created'))
  // Written as by a replica that died before it could ring.
  await app.ctx.store.transact(async (db) => {
    await db.updateTable('tasks').set({ last_event_id: 2 }).where('id', '=', id).execute()
    const event = { task_id: id, seq: 2, type: 'progress', ts: '2026-03-02T09:00:00.000Z', data: '{"text":"unheard"}' }
    await db.insertInto('events').values(event).execute()
  })
  await app.clock.advance(400)
  expect(eventIds(await reader.until(({ tail }) => tail.includes('unheard')))).toEqual([1, 2])
  await cancelTask(app, id)
  await reader.ended
})

test('a key that is deleted at one replica has its streams ended at another', async () => {
  const app = await testApp({ store: 'postgres' })
  const other = await servingReplica(app)
  const { id, key } = (await app.call('POST', '/v1/keys', { name: 'leaked', role: 'viewer' })).body
  const reader = await openStream(`${other.url}/v1/stream`, { authorization: `Bearer ${key}` })
  await reader.until(({ tail }) => tail.includes('ready'))
  expect((await app.call('DELETE', `/v1/keys/${id}`)).status).toBe(204)
  await reader.ended
})

test('the log is read once for all who follow it, however often somebody says that it grew', async () => {
  const app = await testApp({ store: 'sqlite', env: SCRIPTED_AGENT })
  const id = await startScriptedTask(app)
  const { ctx } = app
  const elsewhere = { ...ctx, logFollowers: new LogFollowers() }
  const handed = Array.from({ length: 50 }, (): EventChunk[] => [])
  for (const kept of handed)
    elsewhere.logFollowers.subscribe(id, { receive: (chunks) => kept.push(...chunks), wake: () => {} })
  elsewhere.logFollowers.markCaughtUp(id, 1)
  await appendAsRun(app, id, progressEvents(3))
  expect(elsewhere.logFollowers.isBehind(id, 4)).toBe(true)
  await Promise.all(Array.from({ length: 20 }, () => catchUpFollowers(elsewhere, id)))
  expect(handed.map((chunks) => chunks.map(({ first, last }) => [first, last]))).toEqual(handed.map(() => [[2, 4]]))
  expect(new Set(handed.flat()).size).toBe(1)
  expect(elsewhere.logFollowers.isBehind(id, 4)).toBe(false)
  await cancelTask(app, id)
})

test('what is more than a page is read to its end at one bell', async () => {
  const app = await testApp({ store: 'sqlite', env: SCRIPTED_AGENT })
  const id = await startScriptedTask(app)
  const handed: [number, number][] = []
  const elsewhere = { ...app.ctx, logFollowers: new LogFollowers() }
  elsewhere.logFollowers.subscribe(id, {
    receive: (chunks) => handed.push(...chunks.map(({ first, last }): [number, number] => [first, last])),
    wake: () => {},
  })
  elsewhere.logFollowers.markCaughtUp(id, 1)
  await appendAsRun(app, id, progressEvents(2 * EVENT_PAGE_SIZE + 10))
  await catchUpFollowers(elsewhere, id)
  expect(handed).toEqual([
    [2, EVENT_PAGE_SIZE + 1],
    [EVENT_PAGE_SIZE + 2, 2 * EVENT_PAGE_SIZE + 1],
    [2 * EVENT_PAGE_SIZE + 2, 2 * EVENT_PAGE_SIZE + 11],
  ])
  await cancelTask(app, id)
})
