import pg from 'pg'
import { onTestFinished } from 'vitest'
import { eventually } from '../runs/scripted-agent.ts'

/** Whoever holds the lock halts every transaction that comes to write to this table, or to read it, before it can commit. */
export async function openTableLock(database: string) {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  onTestFinished(() => client.end())
  const halted = async (count: number) => {
    // Inside a transaction PostgreSQL would show for ever what it showed first.
    await client.query('select pg_stat_clear_snapshot()')
    const { rows } = await client.query(
      "select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
    return rows[0].n >= count
  }
  await client.query('begin')
  return {
    hold: (table: string, mode = 'share') => client.query(`lock table ${table} in ${mode} mode`),
    /** Halts only whoever comes to change this row. */
    holdRow: (table: string, id: string) => client.query(`select from ${table} where id = $1 for update`, [id]),
    halted: (count: number) => eventually(() => halted(count)),
    release: () => client.query('rollback'),
  }
}
