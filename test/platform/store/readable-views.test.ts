import { Kysely, Migrator, PostgresDialect } from 'kysely'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { describeTables } from '../../../scripts/table-descriptions.mjs'
import { openPostgresStore } from '../../../src/platform/store/postgres/postgres-store.ts'
import { TABLES_WITHOUT_VIEW, updateReadableViews } from '../../../src/platform/store/postgres/readable-views.ts'
import { MIGRATIONS } from '../../../src/platform/store/schema/migrations.ts'
import { createDatabase } from '../../postgres.ts'
import { createMigratedDatabase } from '../../stores.ts'

const TABLE_DESCRIPTIONS = describeTables()

/** Columns whose name says everything. */
const OBVIOUS_COLUMNS = new Set(
  `id project_id org_id member_id task_id client_id case_id thread_id channel_id connection_id approval_id schedule_id
  file_id artifact_id message_id knowledge_id webhook_id authorisation_id app_id app_name logo_file_id favicon_file_id
  name display_name email slug title subject body content question answer description url language wedge task_type
  role status error last_error last_error_at content_type version attempts bytes
  created_at updated_at expires_at started_at finished_at decided_at sent_at used_at revoked_at delivered_at closed_at
  activated_at last_used_at`.split(/\s+/),
)

const SECRET_NAME = /\.(\w*(hash|token|secret|password|envelope|seal|signature|challenge)\w*|key|code)$/

/** Columns of views with such a name that are no secrets: names of secrets and records, and hashes of what is not one. */
const NOT_SECRET = [
  'audit_checkpoints.hash',
  'audit_checkpoints.signature',
  'audit_entries.hash',
  'audit_entries.prev_hash',
  'audit_heads.hash',
  'connection_tools.hash',
  'connections.secret_ref',
  'idempotency_keys.body_hash',
  'idempotency_keys.key',
  'records.key',
  'signed_tokens.body_hash',
  'signed_tokens.signature_hash',
  'vault.key',
]

interface ColumnRow {
  relation: string
  name: string
  type: string
  comment: string | null
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

async function listColumns(client: pg.Client, schema: 'public' | 'readable'): Promise<ColumnRow[]> {
  const { rows } = await client.query<ColumnRow>(
    `select relname as relation, attname as name, format_type(atttypid, null) as type,
      col_description(attrelid, attnum) as comment
    from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    where relnamespace = $1::regnamespace and relkind in ('r', 'v') and relname not like 'kysely%'
    order by 1, attnum`,
    [schema],
  )
  return rows
}

/** A view stays with a table that was renamed, so its name may lie. */
async function listViewsOfOtherTables(client: pg.Client): Promise<unknown[]> {
  const { rows } = await client.query(`
    select view_name, table_name from information_schema.view_table_usage
    where view_schema = 'readable' and view_name <> table_name`)
  return rows
}

const nameOf = ({ relation, name }: ColumnRow) => `${relation}.${name}`

test('every table has a description, and so has every column whose name does not say everything', () => {
  const missing = Object.entries(TABLE_DESCRIPTIONS).flatMap(([table, { comment, kinds, comments }]) => [
    ...(comment === '' ? [table] : []),
    ...Object.keys(kinds)
      .filter((column) => !OBVIOUS_COLUMNS.has(column) && comments[column] === undefined)
      .map((column) => `${table}.${column}`),
  ])
  expect(missing).toEqual([])
})

describe('the views of a migrated database', () => {
  test('every column of every table is described, and nothing else is', async () => {
    const client = await connect(await createMigratedDatabase())
    const columns = await listColumns(client, 'public')
    const described = Object.entries(TABLE_DESCRIPTIONS).flatMap(([table, { kinds }]) =>
      Object.keys(kinds).map((column) => `${table}.${column}`),
    )
    const stored = columns.map(nameOf)
    expect(stored.toSorted()).toEqual(described.toSorted())
  })

  test('every table has a view with all its columns except the secret ones', async () => {
    const client = await connect(await createMigratedDatabase())
    const expected = Object.entries(TABLE_DESCRIPTIONS)
      .filter(([table]) => !TABLES_WITHOUT_VIEW.has(table))
      .flatMap(([table, { kinds }]) =>
        Object.keys(kinds)
          .filter((column) => kinds[column] !== 'secret')
          .map((column) => `${table}.${column}`),
      )
    const shown = (await listColumns(client, 'readable')).map(nameOf)
    expect(shown.toSorted()).toEqual(expected.toSorted())
    expect(shown.filter((name) => SECRET_NAME.test(name)).toSorted()).toEqual(NOT_SECRET)
  })

  test('times are timestamptz, days are date, flags are boolean and JSON is jsonb', async () => {
    const client = await connect(await createMigratedDatabase())
    const columns = await listColumns(client, 'readable')
    const types = { json: 'jsonb', time: 'timestamp with time zone', day: 'date', flag: 'boolean' }
    const wrong = columns.filter(({ relation, name, type }) => {
      const kind = Object.entries(TABLE_DESCRIPTIONS).find(([table]) => table === relation)?.[1].kinds[name] ?? ''
      const isTime = /(^|_)(at|ts|until|since)$/.test(name)
      return (
        Object.entries(types).some(([known, expected]) => known === kind && type !== expected) ||
        (isTime && kind !== 'time')
      )
    })
    expect(wrong).toEqual([])
  })

  test('tables, views and their columns have the comments', async () => {
    const client = await connect(await createMigratedDatabase())
    const { rows } = await client.query(`select relname from pg_class
      where (relnamespace = 'readable'::regnamespace or relnamespace = 'public'::regnamespace and relname not like 'kysely%')
        and relkind in ('r', 'v') and obj_description(oid, 'pg_class') is null`)
    expect(rows).toEqual([])
    const all = [...(await listColumns(client, 'public')), ...(await listColumns(client, 'readable'))]
    const of = (name: string) => all.filter((column) => nameOf(column) === name).map(({ comment }) => comment)
    expect(of('schedules.enabled')).toEqual(['1: the schedule is on.', 'True: the schedule is on.'])
    expect(of('tasks.cost_micros')).toEqual(Array(2).fill('What the models charged, in millionths of a US dollar.'))
    expect(of('members.password')).toEqual(['A scrypt hash; null while the invitation is open.'])
  })
})

describe('the views stay usable', () => {
  test('a migration finds the views of the version before it and can change their tables', async () => {
    const url = await createDatabase()
    const client = await connect(url)
    const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) }) })
    onTestFinished(() => db.destroy())
    const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } })
    const names = Object.keys(MIGRATIONS).toSorted()
    for (const name of names) {
      const { error } = await migrator.migrateTo(name)
      if (error) throw new Error(`${name}: a migration that rebuilds a table drops its view first`, { cause: error })
      await updateReadableViews(client)
    }
    expect(await listColumns(client, 'readable')).toEqual(
      await listColumns(await connect(await createMigratedDatabase()), 'readable'),
    )
    expect(await listViewsOfOtherTables(client)).toEqual([])
  })

  test('an upgrade keeps the rights on the views, and the views that others built on them', async () => {
    const client = await connect(await createMigratedDatabase())
    await client.query(`create view report as select id, created_at from readable.tasks`)
    await client.query(`grant select on readable.tasks to public`)
    // As an earlier version left them: without the last column.
    await client.query(`drop view readable.replicas`)
    await client.query(`create view readable.replicas as select id from replicas`)
    await client.query(`comment on schema readable is 'earlier'`)
    await updateReadableViews(client)
    expect((await client.query('select * from report')).rows).toEqual([])
    const { rows } = await client.query(`select has_table_privilege('public', 'readable.tasks', 'select') as may`)
    expect(rows).toEqual([{ may: true }])
    expect((await client.query('select max_tasks from readable.replicas')).rows).toEqual([])
  })

  test('a view with other columns or types than before is made again', async () => {
    const client = await connect(await createMigratedDatabase())
    const before = await listColumns(client, 'readable')
    for (const select of ['id, name', `id, org_id, slug, name, tier, wedges, created_at`]) {
      await client.query('drop view readable.projects')
      await client.query(`create view readable.projects as select ${select} from projects`)
      await client.query(`comment on schema readable is 'earlier'`)
      await updateReadableViews(client)
      expect(await listColumns(client, 'readable')).toEqual(before)
    }
  })

  test('a start does not wait for a query that holds a lock on a view', async () => {
    const url = await createMigratedDatabase()
    const client = await connect(url)
    await client.query(`comment on schema readable is 'earlier'`)
    await client.query('begin; lock table readable.tasks in access share mode')
    const warnings: unknown[] = []
    await (await openPostgresStore(url, (message, error) => warnings.push(message, String(error)))).close()
    expect(warnings).toEqual(['the views for SQL tools could not be updated', expect.stringContaining('lock timeout')])
    await client.query('rollback')
    await (await openPostgresStore(url, (message) => warnings.push(message))).close()
    expect(warnings).toHaveLength(2)
  })

  test('without the right to create a schema the service starts with a warning', async () => {
    const url = new URL(await createDatabase())
    const admin = await connect(url.href)
    await admin.query(`create role limited_user login; grant all on schema public to limited_user`)
    onTestFinished(async () => void (await admin.query('drop owned by limited_user; drop role limited_user')))
    url.username = 'limited_user'
    const warnings: string[] = []
    const open = async () => {
      const store = await openPostgresStore(url.href, (message, error) => warnings.push(`${message}: ${String(error)}`))
      await store.close()
    }
    await open()
    expect(warnings).toEqual([expect.stringContaining('permission denied for database')])
    await admin.query('create schema readable authorization limited_user')
    await open()
    expect(warnings).toHaveLength(1)
    expect((await admin.query('select * from readable.tasks')).rows).toEqual([])
  })
})
