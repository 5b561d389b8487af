import { type SqlBool, sql } from 'kysely'
import type { Db } from '../store/store.ts'
import { sortKey } from './fields.ts'
import { shapesWithout } from './shapes.ts'
import type { FieldTest, Stretch } from './where-sql.ts'

/**
 * What fulfils a test that rules one key out, where every record has the field and only one other key is there: its
 * rows are fewer than all records without those that are ruled out. Null when it is not so simple.
 *
 * Keys and shapes are looked at before the records are read, each by a statement of its own: a record that got a third
 * key, or lost the field, in between may be missed by that one reading.
 */
export async function onlyOther(db: Db, shelf: string, { path, conditions }: FieldTest): Promise<Stretch | null> {
  const [condition, ...more] = conditions
  if (condition?.op !== 'ne' || more.length > 0) return null
  const key = await onlyKeyBeside(db, shelf, path, sortKey(condition.value))
  if (key === null) return null
  const shapes = await shapesWithout(db, shelf, [path])
  if (shapes?.get(path)?.length !== 0) return null
  return { path, keys: (found) => sql<SqlBool>`${found} = ${key}`, oneKey: true }
}

/** By four leaps through the index, whatever the number of records. */
async function onlyKeyBeside(db: Db, shelf: string, path: string, out: string): Promise<string | null> {
  const keys = sql`from record_fields where shelf = ${shelf} and path = ${path} and sort_key`
  const { rows } = await sql<{ least: string | null; below: string | null; above: string | null; most: string | null }>`
    select (select min(sort_key) ${keys} < ${out}) as least, (select max(sort_key) ${keys} < ${out}) as below,
      (select min(sort_key) ${keys} > ${out}) as above, (select max(sort_key) ${keys} > ${out}) as most`.execute(db)
  const [found] = rows
  if (!found) return null
  const { least, below, above, most } = found
  if (least === null) return above === most ? above : null
  return most === null && least === below ? least : null
}
