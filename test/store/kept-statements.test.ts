import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { testApp } from '../app.ts'

test('a replica goes on when a newer one changes the tables under its kept statements', async () => {
  const app = await testApp({ store: 'postgres' })
  const { id } = await app.createTask()
  for (let n = 0; n < 50; n++) expect((await app.call('GET', `/v1/tasks/${id}`)).status).toBe(200)
  for (let n = 0; n < 10; n++) await app.events((await app.createTask()).id)
  await sql`alter table tasks add column news text`.execute(app.ctx.db)
  for (let n = 0; n < 25; n++) expect((await app.call('GET', `/v1/tasks/${id}`)).status).toBe(200)
  const again = await app.createTask()
  expect((await app.events(again.id)).at(-1)?.event).toBe('task.finished')
})
