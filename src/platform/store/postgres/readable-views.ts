import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { programsFolder } from '../../config/programs-folder.ts'
import type { Tables } from '../tables.ts'

/** A table as `scripts/table-descriptions.mjs` describes it: its comment, and kinds and comments of its columns. */
interface TableDescription {
  comment: string
  kinds: Record<string, string>
  comments: Record<string, string>
}

/** Tables without a view: bytes of files, copies of `records` for filters, and rows that only the service understands. */
export const TABLES_WITHOUT_VIEW: ReadonlySet<string> = new Set<keyof Tables>([
  'artifact_files',
  'commit_marks',
  'file_chunks',
  'minute_counts',
  'record_fields',
])

/**
 * Brings the schema `readable` up to date. It has a view for each table, in which JSON is jsonb, times are timestamptz and
 * flags are boolean, without secrets. Also writes the comments of tables, views and columns. See docs/sql.md.
 *
 * The comment of the schema says from which descriptions and migrations the views were made: if both are the same, this is
 * one query.
 */
export async function updateReadableViews(client: pg.ClientBase): Promise<void> {
  // The build writes the descriptions.
  const descriptions = readFileSync(join(programsFolder(), 'table-descriptions.json'), 'utf8')
  if ((await readVersions(client, descriptions)).isUpToDate) return
  await client.query('begin')
  try {
    await client.query('select pg_advisory_xact_lock($1)', [LOCK_ID])
    // A query of a SQL tool may hold a lock on a view for hours. The service must not wait for it.
    await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`)
    const { expected, isUpToDate } = await readVersions(client, descriptions)
    if (!isUpToDate) await replaceViews(client, expected, JSON.parse(descriptions))
    await client.query('commit')
  } catch (error) {
    // On a lost connection the server rolls back by itself.
    await client.query('rollback').catch(() => {})
    throw error
  }
}

const LOCK_TIMEOUT_MS = 2_000
const LOCK_ID = 7_263_114_208

/** Raise it when the statements below change. */
const VIEWS_VERSION = 1

/** The comment that the schema has and the one that it should have. */
async function readVersions(
  client: pg.ClientBase,
  descriptions: string,
): Promise<{ expected: string; isUpToDate: boolean }> {
  const { rows } = await client.query<{ comment: string | null; migration: string }>(
    `select obj_description(to_regnamespace('readable'), 'pg_namespace') as comment, max(name) as migration
      from kysely_migration`,
  )
  const version = createHash('sha256').update(`${VIEWS_VERSION} ${descriptions}`).digest('hex').slice(0, 16)
  const expected = `Views of the Agent Work Service for SQL tools, without secrets. Version ${version} ${rows[0]?.migration}`
  return { expected, isUpToDate: rows[0]?.comment === expected }
}

async function replaceViews(
  client: pg.ClientBase,
  schemaComment: string,
  descriptions: Record<string, TableDescription>,
): Promise<void> {
  // `if not exists` would need the right to create a schema even if it exists.
  const { rows } = await client.query<{ schema: string | null }>(`select to_regnamespace('readable') as schema`)
  if (!rows[0]?.schema) await client.query('create schema readable')
  const tables = await readColumns(client, 'current_schema()')
  const views = await readColumns(client, `'readable'`)
  const statements = [CREATE_JSON_FUNCTION, `comment on schema readable is ${literal(schemaComment)}`]
  for (const [table, columns] of tables) {
    const description = descriptions[table]
    if (!description) continue
    statements.push(...commentStatements('table', quote(table), description, columns))
    if (!TABLES_WITHOUT_VIEW.has(table))
      statements.push(...viewStatements(table, description, columns, views.get(table) ?? []))
  }
  await client.query(statements.join(';\n'))
}

interface Column {
  name: string
  type: string
}

/**
 * JSON that jsonb cannot hold, such as a text with the character 0, becomes a JSON string: one such row must not make every
 * query fail. A block with an exception handler cannot run in parallel workers.
 */
const CREATE_JSON_FUNCTION = `
  create or replace function readable.to_json_value(value text) returns jsonb
    language plpgsql immutable strict parallel unsafe as
    $$ begin return value::pg_catalog.jsonb; exception when others then return pg_catalog.to_jsonb(value); end $$;
  comment on function readable.to_json_value(text) is
    'The text as jsonb; a text that jsonb cannot hold becomes a JSON string.'`

/** The columns of the tables and views of a schema, in their order. */
async function readColumns(client: pg.ClientBase, schema: string): Promise<Map<string, Column[]>> {
  const { rows } = await client.query<{ relation: string; columns: Column[] }>(`
    select relname::text as relation, json_agg(
      json_build_object('name', attname, 'type', format_type(atttypid, null)) order by attnum) as columns
    from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    where relnamespace = ${schema}::regnamespace and relkind in ('r', 'v') group by 1 order by 1`)
  return new Map(rows.map(({ relation, columns }) => [relation, columns]))
}

/**
 * A view that only gets more columns is replaced, so that the rights on it and the views of other people that use it stay.
 * The new columns are the last ones, as in the table.
 */
function viewStatements(
  table: string,
  description: TableDescription,
  columns: readonly Column[],
  earlier: readonly Column[],
): string[] {
  const shown = columns.flatMap((column) => toReadable(column, description.kinds[column.name]) ?? [])
  const view = `readable.${quote(table)}`
  const selected = shown.map(({ name, value }) => `${value} as ${quote(name)}`)
  const canReplace = earlier.every(({ name, type }, n) => name === shown[n]?.name && type === shown[n].type)
  return [
    ...(canReplace ? [] : [`drop view ${view}`]),
    `create or replace view ${view} as select ${selected.join(', ')} from ${quote(table)}`,
    ...commentStatements('view', view, description, shown),
  ]
}

/** The column of the view with the SQL of its value, or null for one that is not shown. */
function toReadable({ name, type }: Column, kind = 'secret'): (Column & { value: string }) | null {
  const column = quote(name)
  if (kind === 'secret') return null
  if (kind === 'json') return { name, type: 'jsonb', value: `readable.to_json_value(${column})` }
  if (kind === 'time') return { name, type: 'timestamp with time zone', value: `${column}::timestamptz` }
  if (kind === 'day') return { name, type: 'date', value: `${column}::date` }
  return kind === 'flag' ? { name, type: 'boolean', value: `${column} = 1` } : { name, type, value: column }
}

function commentStatements(
  type: 'table' | 'view',
  relation: string,
  { comment, comments, kinds }: TableDescription,
  columns: readonly Column[],
): string[] {
  const described = columns.flatMap(({ name }) => {
    const text = comments[name]
    return text === undefined ? [] : [{ name, text: type === 'view' ? describeValue(text, kinds[name]) : text }]
  })
  return [
    `comment on ${type} ${relation} is ${literal(comment)}`,
    ...described.map(({ name, text }) => `comment on column ${relation}.${quote(name)} is ${literal(text)}`),
  ]
}

/** The comments of flags are about 0 and 1, which views show as false and true. */
const describeValue = (text: string, kind: string | undefined): string =>
  kind === 'flag' ? text.replace(/^1:/, 'True:').replace(/^0:/, 'False:') : text

const quote = (name: string) => `"${name}"`
const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
