import pg from 'pg'
import { onTestFinished } from 'vitest'
import { eventually } from '../runs/agents.ts'

/** Whoever holds the lock halts every transaction that comes to write to this table, or to read it, before it can commit. */
export async function brake(database: string) {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  onTestFinished(() => client.end())
  const halted = async (count: number) => {
    const { rows } = await client.query(
      'select count(*)::int as n from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())',
    )
    return rows[0].n >= count
  }
  await client.query('begin')
  return {
    hold: (table: string, mode = 'share') => client.query(`lock table ${table} in ${mode} mode`),
    halted: (count: number) => eventually(() => halted(count)),
    release: () => client.query('rollback'),
  }
}
