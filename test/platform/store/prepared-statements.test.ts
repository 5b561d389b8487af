import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openPostgresStore, POOL_LIMITS } from '../../../src/platform/store/postgres/postgres-store.ts'
import { prepareQuery } from '../../../src/platform/store/prepared-query.ts'
import { testApp } from '../../app.ts'
import { createDatabase, dropDatabase } from '../../postgres.ts'

test('a replica with prepared statements keeps working after a newer replica has changed the tables', async () => {
  const app = await testApp({ store: 'postgres' })
  const { id } = await app.createTask()
  for (let n = 0; n < 50; n++) expect((await app.call('GET', `/v1/tasks/${id}`)).status).toBe(200)
  for (let n = 0; n < 10; n++) await app.events((await app.createTask()).id)
  await sql`alter table tasks add column added text`.execute(app.ctx.db)
  for (let n = 0; n < 25; n++) expect((await app.call('GET', `/v1/tasks/${id}`)).status).toBe(200)
  const task = await app.createTask()
  expect((await app.events(task.id)).at(-1)?.event).toBe('task.finished')
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

test('a statement that failed when it was first prepared works in a later transaction', async () => {
  const database = await createDatabase()
  onTestFinished(() => dropDatabase(database))
  const store = await openPostgresStore(database, () => {}, { limits: { ...POOL_LIMITS, connections: 1 } })
  onTestFinished(() => store.close())
  for (let n = 0; n < 8; n++) {
    await store.transact((db) => insertReturning(db, { id: `returning ${n}` }))
    await store.transact((db) => insertDeferred(db, { id: `deferred ${n}` }))
    const duplicateReturning = store.transact(async (db) => {
      await insertDeferred(db, { id: `rolled back ${n}` })
      await insertReturning(db, { id: 'returning 0' })
    })
    await expect(duplicateReturning).rejects.toThrow(/unique/i)
    const duplicateDeferred = store.transact(async (db) => {
      await insertDeferred(db, { id: 'deferred 0' })
      await insertReturning(db, { id: `rolled back ${n}` })
    })
    await expect(duplicateDeferred).rejects.toThrow(/unique/i)
  }
  expect(await store.transact((db) => insertReturning(db, { id: 'last' }))).toEqual([{ id: 'last' }])
  const rows = await store.db.selectFrom('replicas').select('id').execute()
  expect(rows.filter(({ id }) => id.startsWith('rolled back'))).toEqual([])
  expect(rows).toHaveLength(17)
})

test('connections read the current columns after the columns have changed their positions', async () => {
  const app = await testApp({ store: 'postgres' })
  const { id } = await app.createTask()
  await app.events(id)
  const read = async () => (await app.call('GET', `/v1/tasks/${id}`)).body
  const before = await read()
  for (let n = 0; n < 50; n++) await read()
  // The columns change their positions, but their names stay the same.
  await sql`alter table tasks add column added text`.execute(app.ctx.db)
  // A migration drops the view of a table that it changes in this way.
  await sql`drop view readable.tasks`.execute(app.ctx.db)
  await sql`alter table tasks drop column added`.execute(app.ctx.db)
  await sql`alter table tasks drop column retry_of`.execute(app.ctx.db)
  await sql`alter table tasks add column retry_of text`.execute(app.ctx.db)
  const bodies = await Promise.all(Array.from({ length: 40 }, read))
  for (const body of bodies) expect(body).toEqual(before)
})
