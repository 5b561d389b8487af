import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { retryUntilAvailable } from '../errors.ts'
import { GroupCommit } from '../group-commit.ts'
import { migrateStore } from '../schema/migrations.ts'
import { loadSqlite } from './load-sqlite/load-sqlite.ts'
import { type SqliteConnection, createSqliteKysely, openSqliteConnection } from './sqlite-connection.ts'
import type { Db, Store, TransactionWork } from '../store.ts'
import type { TableVersions } from '../table-versions.ts'
import { SqliteWriter } from './sqlite-writer.ts'

/**
 * One file, two connections: transactions that arrive together are committed together, because the flush to disk costs
 * more than all their statements; what is read meanwhile goes beside the writer (WAL) and sees committed rows only.
 */
export async function openSqliteStore(dataDir: string, sync: 'full' | 'normal'): Promise<Store> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'svc.db')
  keepPrivate(path)
  const connection = openSqliteConnection(path, sync)
  const writeDb = createSqliteKysely(connection, null)
  await migrateInTransaction(connection, writeDb)
  const writer = new SqliteWriter(connection, writeDb)
  const commits = new GroupCommit(writer)
  const transact = <T>(work: TransactionWork<T>) => commits.transact('all', work)
  const readDb = createSqliteKysely(
    readThroughWriter(writer, connection, openSqliteConnection(path, sync)),
    createTableVersions(writer, connection),
  )
  return {
    kind: 'sqlite',
    db: readDb,
    transact,
    transactDurably: (work, signal) => retryUntilAvailable(() => transact(work), signal),
    now: null,
    commitMs: () => writer.commitMs,
    ping: () => writer.ping(transact),
    notify: () => {},
    subscribe: () => {},
    async close() {
      await commits.close()
      await readDb.destroy()
      await writeDb.destroy()
    },
  }
}

/**
 * The folder may have been there before, open to others. SQLite makes the files beside the store like the store itself;
 * those of an earlier start are as they were then. Who may not change them is not their owner, and answers for them.
 */
function keepPrivate(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'wx', 0o600))
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      if (existsSync(file)) chmodSync(file, 0o600)
    } catch {}
  }
}

/** All of it or nothing: a start that is killed in the middle leaves the store as it was. */
async function migrateInTransaction(writer: SqliteConnection, db: Db): Promise<void> {
  writer.exec('begin immediate')
  try {
    await migrateStore(db)
    writer.exec('commit')
  } catch (error) {
    if (writer.inTransaction()) writer.exec('rollback')
    throw error
  }
}

/**
 * Keeps every other service out of the folder until this process ends, however it ends: the lock is the operating
 * system's. A second one would end the runs of the first as its own left-overs.
 */
export function lockDataFolder(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const { DatabaseSync } = loadSqlite()
  const path = join(dataDir, 'svc.lock')
  keepPrivate(path)
  const lock = new DatabaseSync(path)
  try {
    lock.exec(`pragma busy_timeout = ${LOCK_WAIT_MS}; begin exclusive`)
  } catch (error) {
    lock.close()
    if (!String(error).includes('locked')) throw error
    throw new Error(`another service uses the data folder ${dataDir}`, { cause: error })
  }
  return () => lock.close()
}

/** The one before may be about to end. */
const LOCK_WAIT_MS = 2_000

/** A consistent copy of the store in one file, made beside a service that goes on. It holds hashes and sealed secrets. */
export function copySqliteStore(dataDir: string, to: string): void {
  const path = join(dataDir, 'svc.db')
  if (!existsSync(path)) throw new Error(`there is no ${path}`)
  closeSync(openSync(to, 'wx', 0o600))
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path)
  try {
    database.exec('pragma busy_timeout = 5000')
    database.prepare('vacuum into ?').run(to)
  } catch (error) {
    // Half a copy must not pass for one, nor stand in the way of the next.
    rmSync(to, { force: true })
    throw error
  } finally {
    database.close()
  }
  const copy = openSync(to, 'r')
  fsyncSync(copy)
  closeSync(copy)
}

/**
 * Reads go through the writer's connection while no transaction is open on it: a commit empties the page cache of every
 * other connection, and with a cold cache the same read takes up to twice as long.
 */
function readThroughWriter(
  writer: SqliteWriter,
  connection: SqliteConnection,
  reader: SqliteConnection,
): SqliteConnection {
  return { ...reader, prepare: (text) => (writer.isOpen ? reader : connection).prepare(text) }
}

/**
 * Only this process writes while it holds the folder. What a person does to the file by hand is noticed soon: to ask
 * for it takes as long as a short read.
 */
function createTableVersions(writer: SqliteWriter, connection: SqliteConnection): TableVersions {
  let foreign = connection.dataVersion()
  let looked = performance.now()
  let changes = 0
  const lookAgain = (now: number) => {
    looked = now
    const seen = connection.dataVersion()
    if (seen !== foreign) changes++
    foreign = seen
  }
  return {
    versionOf(tables) {
      // Also where a rollback has failed: what is read there may never be committed.
      if (writer.isOpen || connection.inTransaction()) return null
      const now = performance.now()
      if (now - looked > EXTERNAL_CHECK_MS) lookAgain(now)
      return tables.reduce((sum, table) => sum + connection.writeCount(table), changes)
    },
  }
}

const EXTERNAL_CHECK_MS = 50
