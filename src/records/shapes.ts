import { sql } from 'kysely'
import type { Db } from '../store/store.ts'
import { SHAPE_PATH } from './fields.ts'

/** The shapes of records that lack a field, for each path. Null when the shelf holds very many shapes. */
export async function shapesWithout(
  db: Db,
  shelf: string,
  paths: readonly string[],
): Promise<Map<string, string[]> | null> {
  const shapes = await shapesOn(db, shelf)
  if (shapes.length > MOST_SHAPES) return null
  const having = await pathsOf(db, shapes, paths)
  return new Map(
    paths.map((path) => {
      const ids = new Set(having.filter((field) => field.path === path).map((field) => field.record_id))
      return [path, shapes.filter(({ sample }) => !ids.has(sample)).map(({ shape }) => shape)]
    }),
  )
}

const MOST_SHAPES = 200

interface Shape {
  shape: string
  /** A record that has it, and with it the fields that all of them have. */
  sample: string
}

/** Leaps from shape to shape through the index, whatever the number of records. */
async function shapesOn(db: Db, shelf: string): Promise<Shape[]> {
  const shelved = sql`from record_fields as f where f.shelf = ${shelf} and f.path = ${sql.lit(SHAPE_PATH)}`
  const { rows } = await sql<Shape>`
    with recursive known(shape) as (
      select (select min(f.sort_key) ${shelved})
      union all
      select (select min(f.sort_key) ${shelved} and f.sort_key > known.shape) from known where known.shape is not null)
    select shape, (select min(f.record_id) ${shelved} and f.sort_key = known.shape) as sample
    from known where shape is not null limit ${MOST_SHAPES + 1}`.execute(db)
  return rows
}

async function pathsOf(db: Db, shapes: readonly Shape[], paths: readonly string[]) {
  if (shapes.length === 0) return []
  const samples = shapes.map(({ sample }) => sample)
  return db
    .selectFrom('record_fields')
    .select(['record_id', 'path'])
    .where('record_id', 'in', samples)
    .where('path', 'in', paths)
    .execute()
}
