import pg from 'pg'

/** Why a start through such a pooler is refused, and what to do. */
const REFUSAL =
  'DATABASE_URL leads to a connection pooler in transaction mode, which breaks LISTEN, prepared statements and session settings: connect to PostgreSQL directly, or set the pool mode of this database to session'

/** Other clients may use the pooler at the same time, so that one comparison may miss it. */
const ROUNDS = 5

/**
 * Refuses a pooler, such as PgBouncer, that gives every transaction another session of the database. A pooler tells each
 * client a process id of its own making, so a direct connection is recognised by one query. Behind a pooler in session
 * mode, a client keeps its session, and no other client has it.
 */
export async function refuseTransactionPooler(client: pg.PoolClient, other: pg.Client): Promise<void> {
  const session = await readSessionId(client)
  if (session === announcedId(client)) return
  await other.connect()
  try {
    for (let round = 0; round < ROUNDS; round++) {
      // Twice in a row: a pooler that uses its sessions in turn gives the client another one, and every other pooler
      // gives the session that is free again to the other client.
      const sessions = [await readSessionId(client), await readSessionId(client)]
      if (sessions.some((id) => id !== session) || (await readSessionId(other)) === session) throw new Error(REFUSAL)
    }
  } finally {
    await other.end()
  }
}

async function readSessionId(client: pg.ClientBase): Promise<number | undefined> {
  const { rows } = await client.query<{ id: number }>('select pg_backend_pid() as id')
  return rows[0]?.id
}

/** The process id that the server sent when the connection was opened. The types of the driver do not declare it. */
const announcedId = (client: pg.ClientBase) => (client as unknown as { processID: number }).processID
