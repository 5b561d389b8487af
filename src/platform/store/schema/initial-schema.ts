import { isPostgres } from '../dialect.ts'
import type { Db } from '../store.ts'
import { APPROVAL_TABLES } from './initial/approvals.ts'
import { AUTOMATION_TABLES } from './initial/automation.ts'
import { CONNECTION_TABLES } from './initial/connections.ts'
import { CUSTOMER_TABLES } from './initial/customers.ts'
import { IDENTITY_TABLES } from './initial/identity.ts'
import { WORK_TABLES } from './initial/work.ts'

/**
 * Every table and index, as statements for one store. Both stores run the same text except for two phrases: `without rowid`
 * keeps small rows inside the primary key of SQLite, so that a commit writes fewer pages, and `collate "C"` makes
 * PostgreSQL sort text by its bytes, which SQLite does anyway.
 *
 * Every list and every read of a run follows an index, so that none of them reads all rows of a project. The index of a list
 * ends with the columns of its filters, so that a filter that few rows match reads the index alone, and a new row writes no
 * further index. Rare rows have partial indexes, which cost nothing for the others.
 */
export function initialSchema(db: Db): string[] {
  const removed = isPostgres(db) ? / without rowid$/ : / collate "C"/g
  const tables = [
    IDENTITY_TABLES,
    WORK_TABLES,
    APPROVAL_TABLES,
    CONNECTION_TABLES,
    CUSTOMER_TABLES,
    AUTOMATION_TABLES,
    isPostgres(db) ? POSTGRES_INDEXES : SQLITE_INDEXES,
  ]
  return tables.flatMap((ddl) => ddl.split(';')).map((statement) => statement.trim().replace(removed, ''))
}

/** Finds the queued tasks of a wedge for replicas that execute some wedges only; a SQLite file has one replica. */
const POSTGRES_INDEXES = `create index tasks_queued_wedge on tasks (wedge, project_id, id) where status = 'queued'`

/**
 * SQLite plans without statistics, so it follows an index that has the order of a list, even if few of its rows match. It
 * needs indexes that have both.
 */
const SQLITE_INDEXES = `
  create index threads_unanswered_id on threads (project_id, id) where unanswered_at is not null;
  create index threads_unanswered_activity on threads (project_id, updated_at, id) where unanswered_at is not null;
  create index webhook_deliveries_pending on webhook_deliveries (webhook_id, id) where status = 'pending'`
