import { setImmediate } from 'node:timers/promises'
import type { DatabaseConnection, Driver, QueryResult } from 'kysely'

/** After this many milliseconds of reads other requests get their turn. */
const MAX_READ_MS = 3

/**
 * SQLite reads synchronously, and a promise that is already resolved continues in the same turn of the event loop. All
 * reads of a request would therefore block the others together, however short each of them is.
 */
export function yieldBetweenReads(driver: Driver): Driver {
  let readMs = 0
  const yieldAfter = async (start: number) => {
    readMs += performance.now() - start
    if (readMs < MAX_READ_MS) return
    readMs = 0
    await setImmediate()
  }
  return {
    init: () => driver.init(),
    acquireConnection: async () => new YieldingConnection(await driver.acquireConnection(), yieldAfter),
    beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
    commitTransaction: (connection) => driver.commitTransaction(connection),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
    releaseConnection: (connection) => driver.releaseConnection(connection),
    destroy: () => driver.destroy(),
  }
}

class YieldingConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection
  readonly #yieldAfter: (start: number) => Promise<void>

  constructor(connection: DatabaseConnection, yieldAfter: (start: number) => Promise<void>) {
    this.#connection = connection
    this.#yieldAfter = yieldAfter
  }

  async executeQuery<Row>(...args: Parameters<DatabaseConnection['executeQuery']>): Promise<QueryResult<Row>> {
    const start = performance.now()
    const result = await this.#connection.executeQuery<Row>(...args)
    await this.#yieldAfter(start)
    return result
  }

  streamQuery<Row>(...args: Parameters<DatabaseConnection['streamQuery']>): AsyncIterableIterator<QueryResult<Row>> {
    return this.#connection.streamQuery<Row>(...args)
  }
}
