import { sql } from 'kysely'
import type { Store } from '../../../src/platform/store/store.ts'

const LATER_INDEXES = [
  'approvals_edited',
  'threads_unread',
  'threads_unread_activity',
  'approvals_assignee',
  'tasks_expired',
  'threads_held',
  'webhook_deliveries_failed',
]

/** Brings a PostgreSQL database to the schema of the version before partitions, with five events. */
export async function undoPartitions(store: Store, taskId: string): Promise<void> {
  await store.transact(async (db) => {
    for (const statement of [
      'drop table events cascade',
      `create table events (task_id text not null, seq bigint not null, type text not null, ts text not null,
        data text not null, primary key (task_id, seq))`,
      `insert into events select '${taskId}', n, 'progress', 'then', '{}' from generate_series(1, 5) as n`,
      'drop table audit_blocks, audit_indexes cascade',
      `drop index ${LATER_INDEXES.join(', ')}`,
      // Later migrations change other tables.
      "delete from kysely_migration where name between '0023_event_partitions' and '0029'",
    ])
      await sql.raw(statement).execute(db)
  })
}
