import type pg from 'pg'

/** Closes the socket at once. `client.end()` would wait for a server that may not respond. */
export function destroyConnection(client: pg.Client | pg.PoolClient): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}
