import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { testApp } from '../../app.ts'

test('PostgreSQL: the sessions of a replica are named after the replica and their role', async () => {
  const app = await testApp({ store: 'postgres' })
  const { db, replica } = app.ctx
  const names = async () => {
    const { rows } = await sql<{ name: string }>`select distinct application_name as name from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' order by 1`.execute(db)
    return rows.map(({ name }) => name)
  }
  await expect.poll(names).toEqual([`svc/${replica} listener`, `svc/${replica} pool`])
})
