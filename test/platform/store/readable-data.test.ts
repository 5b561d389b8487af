import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { sharedTwoTenants } from '../../server/planes/two-tenants.ts'

const tenants = sharedTwoTenants('postgres')

test('every view can be read, and no text in it is a JSON object, a JSON list or a time', async () => {
  const { db } = tenants().ctx
  const { rows: views } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'readable'::regnamespace and relkind = 'v'`.execute(db)
  const found: string[] = []
  const withRows = new Set<string>()
  for (const { name } of views) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.id('readable', name)}`.execute(db)
    for (const row of rows) {
      withRows.add(name)
      // A period is a day or a month, and so a text.
      for (const [column, value] of Object.entries(row))
        if (typeof value === 'string' && column !== 'period' && LOOKS_STORED.test(value))
          found.push(`${name}.${column}: ${value}`)
    }
  }
  expect(found).toEqual([])
  for (const name of ['tasks', 'events', 'approvals', 'threads', 'messages', 'schedules', 'audit_entries'])
    expect(withRows).toContain(name)
})

const LOOKS_STORED = /^(\{".*\}|\{\}|\[.*\]|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z|\d{4}-\d\d-\d\d)$/s
