import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createPostgres, removePostgres, POSTGRES_URL_VARIABLE } from './postgres.ts'

/** One PostgreSQL for the whole run; each test file makes its own databases on it. */
export default async function setup(): Promise<() => Promise<void>> {
  // The programs inside the sandbox are bundles; the tests run those that belong to the sources.
  execFileSync(process.execPath, [fileURLToPath(new URL('../scripts/build.mjs', import.meta.url)), '--programs'], {
    stdio: 'inherit',
  })
  const server = await createPostgres()
  process.env[POSTGRES_URL_VARIABLE] = server.url
  return () => removePostgres(server)
}
