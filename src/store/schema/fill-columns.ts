import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { byteOrderCollation, isPostgres, createBulkInsert } from '../dialect.ts'
import type { Db } from '../store.ts'
import type { RecordFieldRow, RecordPathRow, RecordRow } from '../tables.ts'

/**
 * Puts the fields of every record side by side, for the migration that brought columns in place of shapes and of one of
 * the indexes. It says for good what a column was then, so it shares no code with the feature.
 */
export async function fillColumns(db: Db): Promise<void> {
  await createTables(db)
  const paths = new Paths()
  for (let after = ''; ; ) {
    const records = await recordsAfter(db, after)
    const last = records.at(-1)
    if (!last) break
    const fields = await fieldsBetween(db, after, last.id)
    await insertColumns(
      db,
      records.map((record) => {
        const shelf = digest(`${record.project_id}\0${record.collection}`)
        return [shelf, record.id, record.wedge, ...paths.columnsOf(shelf, fields.get(record.id) ?? [])]
      }),
    )
    after = last.id
  }
  await insertPaths(
    db,
    paths.rows.map(({ shelf, path, n }) => [shelf, path, n]),
  )
  await sql`delete from record_fields where path = ''`.execute(db)
  await sql`drop index record_fields_newest`.execute(db)
}

const COLUMNS = Array.from({ length: 64 }, (_, n) => `c${n}` as const)
const PAGE = 1000
const insertColumns = createBulkInsert('record_columns', ['shelf', 'record_id', 'wedge', ...COLUMNS])
const insertPaths = createBulkInsert('record_paths', ['shelf', 'path', 'n'])

async function createTables(db: Db): Promise<void> {
  const order = byteOrderCollation(db)
  await sql`create table record_paths (shelf text not null, path text not null, n bigint not null,
    primary key (shelf, path), unique (shelf, n))`.execute(db)
  // By shelf and age: SQLite keeps the rows in that order, and PostgreSQL writes them so anyway.
  await sql
    .raw(
      `create table record_columns (shelf text not null, record_id text not null, wedge text not null,
        ${COLUMNS.map((column) => `${column} text ${order}`).join(', ')}, primary key (shelf, record_id))
        ${isPostgres(db) ? '' : 'without rowid'}`,
    )
    .execute(db)
}

type Entry = Pick<RecordRow, 'id' | 'project_id' | 'wedge' | 'collection'>

function recordsAfter(db: Db, after: string): Promise<Entry[]> {
  return db
    .selectFrom('records')
    .select(['id', 'project_id', 'wedge', 'collection'])
    .where('id', '>', after)
    .orderBy('id')
    .limit(PAGE)
    .execute()
}

type Field = Pick<RecordFieldRow, 'record_id' | 'path' | 'sort_key'>

async function fieldsBetween(db: Db, after: string, upTo: string): Promise<Map<string, Field[]>> {
  const fields = await db
    .selectFrom('record_fields')
    .select(['record_id', 'path', 'sort_key'])
    .where('record_id', '>', after)
    .where('record_id', '<=', upTo)
    .where('path', '<>', '')
    .orderBy('record_id')
    .orderBy('path')
    .execute()
  const byRecord = new Map<string, Field[]>()
  for (const field of fields) {
    const known = byRecord.get(field.record_id)
    if (known) known.push(field)
    else byRecord.set(field.record_id, [field])
  }
  return byRecord
}

/** Gives the first paths of each shelf a column each. */
class Paths {
  readonly #shelves = new Map<string, Map<string, number>>()

  columnsOf(shelf: string, fields: readonly Field[]): (string | null)[] {
    const columns = this.#shelves.get(shelf) ?? new Map<string, number>()
    this.#shelves.set(shelf, columns)
    const keys = COLUMNS.map<string | null>(() => null)
    for (const { path, sort_key } of fields) {
      const n = columns.get(path) ?? columns.size
      if (n >= COLUMNS.length || (!columns.has(path) && isOneOfMany(path, columns))) continue
      columns.set(path, n)
      keys[n] = columnKey(sort_key)
    }
    return keys
  }

  get rows(): RecordPathRow[] {
    return [...this.#shelves].flatMap(([shelf, columns]) => [...columns].map(([path, n]) => ({ shelf, path, n })))
  }
}

/** An object that is used as a map, with a key for each thing, gets a few columns only. */
function isOneOfMany(path: string, columns: ReadonlyMap<string, number>): boolean {
  const parent = parentOf(path)
  return parent !== '' && [...columns.keys()].filter((known) => parentOf(known) === parent).length >= 16
}

const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('.')))

function columnKey(sortKey: string): string {
  if (sortKey.startsWith('n')) return sortKey.replace(/0+$/, '')
  if (!sortKey.startsWith('s') || Buffer.byteLength(sortKey) <= 28) return sortKey
  return `l${createHash('sha256').update(sortKey).digest('base64url').slice(0, 12)}`
}

const digest = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 16)
