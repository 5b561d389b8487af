import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createPostgres, removePostgres, POSTGRES_URL_VARIABLE } from './postgres.ts'

/** Starts one PostgreSQL server for the whole test run. Each test file creates its own databases on it. */
export default async function setup(): Promise<() => Promise<void>> {
  // Programs inside the sandbox are bundles. The tests must run bundles of the current sources.
  execFileSync(process.execPath, [fileURLToPath(new URL('../scripts/build.mjs', import.meta.url)), '--programs'], {
    stdio: 'inherit',
  })
  const server = await createPostgres()
  process.env[POSTGRES_URL_VARIABLE] = server.url
  return () => removePostgres(server)
}
