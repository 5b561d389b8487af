import { expect, onTestFinished, test } from 'vitest'
import { startApp } from '../../../src/server/app.ts'
import { type EventChunk, LogFollowers } from '../../../src/platform/ctx/log-followers.ts'
import { catchUpFollowers } from '../../../src/work/events/follow-log.ts'
import { EVENT_PAGE_SIZE } from '../../../src/work/events/rows.ts'
import { type TestApp, testApp } from '../../app.ts'
import {
  appendAsRun,
  cancelTask,
  NO_RATE_LIMIT,
  progressEvents,
  SCRIPTED_AGENT,
  startScriptedTask,
} from '../tasks/scripted-agent.ts'
import { eventIds, eventsUrl, numbersUpTo, openStream, readWholeStream } from './stream-reader.ts'

const FOLLOWERS = 100

/** Another replica on the same store that runs no tasks. */
async function servingReplica(app: TestApp) {
  const config = { ...app.ctx.config, maxConcurrentTasks: 0, dataDir: `${app.ctx.config.dataDir}-other` }
  const other = await startApp(config, app.ctx.world)
  onTestFinished(() => other.stop())
  return other
}

test('clients on another replica get every event once and in order', async () => {
  const app = await testApp({ store: 'postgres', env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT } })
  const other = await servingReplica(app)
  const id = await startScriptedTask(app)
  const otherUrl = `${other.url}/v1/tasks/${id}/events`
  const early = await Promise.all(Array.from({ length: FOLLOWERS }, () => openStream(otherUrl)))
  for (let i = 0; i < 30; i++) await appendAsRun(app, id, progressEvents(1 + (i % 7)))
  const late = await Promise.all(Array.from({ length: 20 }, () => openStream(otherUrl)))
  for (let i = 0; i < 30; i++) await appendAsRun(app, id, progressEvents(1 + (i % 7)))
  await cancelTask(app, id)
  const texts = await Promise.all([...early, ...late].map((reader) => reader.ended))
  const whole = await readWholeStream(eventsUrl(app, id))
  expect(new Set(texts)).toEqual(new Set([whole]))
  expect(eventIds(whole)).toEqual(numbersUpTo(eventIds(whole).length))
})

test('an event whose change hint was lost is found by polling the followed logs', async () => {
  const app = await testApp({ store: 'postgres', env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT } })
  const other = await servingReplica(app)
  const id = await startScriptedTask(app)
  const reader = await openStream(`${other.url}/v1/tasks/${id}/events`)
  await reader.until(({ tail }) => tail.includes('task.created'))
  // As written by a replica that crashed before it published the hint.
  await app.ctx.store.transact(async (db) => {
    await db.updateTable('tasks').set({ last_event_id: 2 }).where('id', '=', id).execute()
    const event = { task_id: id, seq: 2, type: 'progress', ts: '2026-03-02T09:00:00.000Z', data: '{"text":"missed"}' }
    await db.insertInto('events').values(event).execute()
  })
  await app.clock.advance(400)
  expect(eventIds(await reader.until(({ tail }) => tail.includes('missed')))).toEqual([1, 2])
  await cancelTask(app, id)
  await reader.ended
})

test('deleting an API key on one replica ends its streams on another', async () => {
  const app = await testApp({ store: 'postgres' })
  const other = await servingReplica(app)
  const { id, key } = (await app.call('POST', '/v1/keys', { name: 'leaked', role: 'viewer' })).body
  const reader = await openStream(`${other.url}/v1/stream`, { authorization: `Bearer ${key}` })
  await reader.until(({ tail }) => tail.includes('ready'))
  expect((await app.call('DELETE', `/v1/keys/${id}`)).status).toBe(204)
  await reader.ended
})

test('many notifications read the log once for all followers', async () => {
  const app = await testApp({ store: 'sqlite', env: SCRIPTED_AGENT })
  const id = await startScriptedTask(app)
  const { ctx } = app
  const otherReplica = { ...ctx, logFollowers: new LogFollowers() }
  const received = Array.from({ length: 50 }, (): EventChunk[] => [])
  for (const target of received)
    otherReplica.logFollowers.subscribe(id, { receive: (chunks) => target.push(...chunks), wake: () => {} })
  otherReplica.logFollowers.markCaughtUp(id, 1)
  await appendAsRun(app, id, progressEvents(3))
  expect(otherReplica.logFollowers.isBehind(id, 4)).toBe(true)
  await Promise.all(Array.from({ length: 20 }, () => catchUpFollowers(otherReplica, id)))
  expect(received.map((chunks) => chunks.map(({ first, last }) => [first, last]))).toEqual(received.map(() => [[2, 4]]))
  expect(new Set(received.flat()).size).toBe(1)
  expect(otherReplica.logFollowers.isBehind(id, 4)).toBe(false)
  await cancelTask(app, id)
})

test('one change hint reads all pages of new events', async () => {
  const app = await testApp({ store: 'sqlite', env: SCRIPTED_AGENT })
  const id = await startScriptedTask(app)
  const received: [number, number][] = []
  const otherReplica = { ...app.ctx, logFollowers: new LogFollowers() }
  otherReplica.logFollowers.subscribe(id, {
    receive: (chunks) => received.push(...chunks.map(({ first, last }): [number, number] => [first, last])),
    wake: () => {},
  })
  otherReplica.logFollowers.markCaughtUp(id, 1)
  await appendAsRun(app, id, progressEvents(2 * EVENT_PAGE_SIZE + 10))
  await catchUpFollowers(otherReplica, id)
  expect(received).toEqual([
    [2, EVENT_PAGE_SIZE + 1],
    [EVENT_PAGE_SIZE + 2, 2 * EVENT_PAGE_SIZE + 1],
    [2 * EVENT_PAGE_SIZE + 2, 2 * EVENT_PAGE_SIZE + 11],
  ])
  await cancelTask(app, id)
})
