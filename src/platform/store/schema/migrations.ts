import { type Kysely, type Migration, Migrator, sql } from 'kysely'
import { errorMessage } from '../../base/error-message.ts'
import type { Tables } from '../tables.ts'
import { initialSchema } from './initial-schema.ts'

/** Append only: a store runs, in order of their names, the migrations that it has not run yet. */
export const MIGRATIONS: Record<string, Migration> = {
  // Versions before 0.2.0 had migrations with lower numbers.
  '0100_initial_schema': {
    async up(db) {
      for (const statement of initialSchema(db)) await sql.raw(statement).execute(db)
    },
  },
}

/**
 * Brings the store to the newest schema. Kysely's lock lets only one replica at a time migrate. On PostgreSQL each migration
 * is a transaction of its own, so that replicas of an earlier version wait only for the locks of one.
 */
export async function migrateStore(db: Kysely<Tables>, migrations = MIGRATIONS): Promise<void> {
  const provider = { getMigrations: async () => migrations }
  // Kysely orders what was run by the clocks of the replicas that ran it, and these differ.
  const migrator = new Migrator({ db, provider, allowUnorderedMigrations: true })
  for (;;) {
    const { error, results = [] } = await migrator.migrateUp()
    if (error) throw foreignSchema(error, migrations) ?? error
    if (results.length === 0) return
  }
}

/** What the operator must know about a database in which another version has run its migrations. */
function foreignSchema(error: unknown, migrations: Record<string, Migration>): Error | null {
  const [, name] = /previously executed migration (\S+) is missing/.exec(errorMessage(error)) ?? []
  if (name === undefined) return null
  const isNewer = name > (Object.keys(migrations).toSorted().at(-1) ?? '')
  const sentence = isNewer
    ? 'this database is from a newer version than this one: install that version, or restore a backup'
    : 'this database is from a version before 0.2.0, which cannot be upgraded: start with an empty database'
  return new Error(`${sentence} (it has the migration ${name}, see docs/upgrade.md)`, { cause: error })
}
