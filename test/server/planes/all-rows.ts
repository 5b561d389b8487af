import type { Tables } from '../../../src/platform/store/tables.ts'
import type { TestApp } from '../../app.ts'

/** Columns that change without an effect of the request, such as the time of the last use. */
const VOLATILE_COLUMNS: Record<string, string[]> = { keys: ['last_used_at'], replicas: ['seen_at'] }

/** Every row of every table. Equal results before and after requests prove that they changed nothing. */
export async function readAllRows(app: TestApp): Promise<Record<string, string[]>> {
  const tables = await app.ctx.db.introspection.getTables()
  const names = tables.map(({ name }) => name).filter((name) => !name.startsWith('kysely_')) as (keyof Tables)[]
  const all: Record<string, string[]> = {}
  for (const name of names.toSorted()) {
    const rows = await app.ctx.db.selectFrom(name).selectAll().execute()
    all[name] = rows.map((row) => JSON.stringify(withoutColumns(row, VOLATILE_COLUMNS[name] ?? []))).toSorted()
  }
  return all
}

function withoutColumns(row: object, columns: string[]): object {
  return Object.fromEntries(Object.entries(row).filter(([column]) => !columns.includes(column)))
}
