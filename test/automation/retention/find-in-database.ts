import { sql } from 'kysely'
import type { TestApp } from '../../app.ts'

/** The tables that hold a text. */
export async function findInDatabase({ ctx }: TestApp, text: string): Promise<string[]> {
  const tables = await ctx.db.introspection.getTables()
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await sql`select * from ${sql.table(name)}`.execute(ctx.db)
    if (JSON.stringify(rows.rows).toLowerCase().includes(text)) found.push(name)
  }
  return found
}
