import { type Kysely, type Migration, Migrator, sql } from 'kysely'
import type { Tables } from '../tables.ts'
import { initialSchema } from './initial-schema.ts'

/** Brings the store to the newest schema. Kysely's lock lets only one replica at a time migrate. */
export async function migrateStore(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } })
  const { error } = await migrator.migrateToLatest()
  if (error) throw error
}

/** Append only: a store runs, in order of their names, the migrations that it has not run yet. */
const MIGRATIONS: Record<string, Migration> = {
  '0001_initial_schema': {
    async up(db) {
      for (const statement of initialSchema(db)) await sql.raw(statement).execute(db)
    },
  },
}
