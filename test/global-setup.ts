import { createPostgres, removePostgres, SERVER_URL } from './postgres.ts'

/** One PostgreSQL for the whole run; each test file makes its own databases on it. */
export default async function setup(): Promise<() => Promise<void>> {
  const server = await createPostgres()
  process.env[SERVER_URL] = server.url
  return () => removePostgres(server)
}
