import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openPostgresStore, POOL_LIMITS } from '../../src/store/postgres/postgres-store.ts'
import { prepareQuery } from '../../src/store/prepared-query.ts'
import { testApp } from '../app.ts'
import { createDatabase, dropDatabase } from '../postgres.ts'

test('a replica keeps working when a newer one changes the tables under its prepared statements', async () => {
  const app = await testApp({ store: 'postgres' })
  const { id } = await app.createTask()
  for (let n = 0; n < 50; n++) expect((await app.call('GET', `/v1/tasks/${id}`)).status).toBe(200)
  for (let n = 0; n < 10; n++) await app.events((await app.createTask()).id)
  await sql`alter table tasks add column news text`.execute(app.ctx.db)
  for (let n = 0; n < 25; n++) expect((await app.call('GET', `/v1/tasks/${id}`)).status).toBe(200)
  const again = await app.createTask()
  expect((await app.events(again.id)).at(-1)?.event).toBe('task.finished')
})

const insertReturning = prepareQuery<{ id: string }, { id: string }>((db, arg) =>
  db
    .insertInto('replicas')
    .values({ id: arg('id'), started_at: '', seen_at: '' })
    .returning('id'),
)

const insertDeferred = prepareQuery<{ id: string }>((db, arg) =>
  db
    .insertInto('replicas')
    .values({ id: arg('id'), started_at: '', seen_at: '' })
    .$castTo<never>(),
)

test('statements that fail when they are first prepared are prepared by a later call and return the same', async () => {
  const database = await createDatabase()
  onTestFinished(() => dropDatabase(database))
  const store = await openPostgresStore(database, () => {}, { ...POOL_LIMITS, connections: 1 })
  onTestFinished(() => store.close())
  for (let n = 0; n < 8; n++) {
    await store.transact((db) => insertReturning(db, { id: `loud ${n}` }))
    await store.transact((db) => insertDeferred(db, { id: `quiet ${n}` }))
    const both = store.transact(async (db) => {
      await insertDeferred(db, { id: `lost ${n}` })
      await insertReturning(db, { id: 'loud 0' })
    })
    await expect(both).rejects.toThrow(/unique/i)
    const neither = store.transact(async (db) => {
      await insertDeferred(db, { id: 'quiet 0' })
      await insertReturning(db, { id: `lost ${n}` })
    })
    await expect(neither).rejects.toThrow(/unique/i)
  }
  expect(await store.transact((db) => insertReturning(db, { id: 'last' }))).toEqual([{ id: 'last' }])
  const rows = await store.db.selectFrom('replicas').select('id').execute()
  expect(rows.filter(({ id }) => id.startsWith('lost'))).toEqual([])
  expect(rows).toHaveLength(17)
})

test('a new connection reads the current columns, not those that an older connection remembers', async () => {
  const app = await testApp({ store: 'postgres' })
  const { id } = await app.createTask()
  await app.events(id)
  const read = async () => (await app.call('GET', `/v1/tasks/${id}`)).body
  const before = await read()
  for (let n = 0; n < 50; n++) await read()
  // Every column behind it changes its position.
  await sql`alter table tasks add column news text`.execute(app.ctx.db)
  await sql`alter table tasks drop column news`.execute(app.ctx.db)
  await sql`alter table tasks drop column retry_of`.execute(app.ctx.db)
  await sql`alter table tasks add column retry_of text`.execute(app.ctx.db)
  const all = await Promise.all(Array.from({ length: 40 }, read))
  for (const body of all) expect(body).toEqual(before)
})
