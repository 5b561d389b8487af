import pg from 'pg'
import { onTestFinished } from 'vitest'
import { eventually } from '../execution/runs/scripted-agent.ts'

/** A database connection whose locks stop transactions of the service before their commit. */
export async function openTableLock(database: string) {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  onTestFinished(() => client.end())
  const hasBlocked = async (count: number) => {
    // Inside a transaction PostgreSQL would repeat its first snapshot of the statistics.
    await client.query('select pg_stat_clear_snapshot()')
    const { rows } = await client.query(
      "select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
    return rows[0].n >= count
  }
  await client.query('begin')
  return {
    hold: (table: string, mode = 'share') => client.query(`lock table ${table} in ${mode} mode`),
    /** Stops only transactions that change this row. */
    holdRow: (table: string, id: string) => client.query(`select from ${table} where id = $1 for update`, [id]),
    waitForBlocked: (count: number) => eventually(() => hasBlocked(count)),
    release: () => client.query('rollback'),
  }
}
