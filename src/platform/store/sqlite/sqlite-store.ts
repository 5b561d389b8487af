import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { programsFolder } from '../../config/programs-folder.ts'
import { DISK_FULL, retryUntilAvailable, StoreUnavailable } from '../errors.ts'
import { GroupCommit } from '../group-commit.ts'
import { migrateStore } from '../schema/migrations.ts'
import { canReleasePages, PAGES_PER_STEP, releasePages } from './free-pages.ts'
import { loadSqlite } from './load-sqlite/load-sqlite.ts'
import type { Db, Store, TransactionWork } from '../store.ts'
import { ReaderThreads } from './reader-threads.ts'
import { openSqliteConnection, type SqliteConnection } from './sqlite-connection.ts'
import { createDrivenKysely, createSqliteKysely } from './sqlite-kysely.ts'
import { SqliteWriter } from './sqlite-writer.ts'

/**
 * One file and two connections. One of them writes. The other reads while a transaction is open; thanks to the
 * write-ahead log it sees committed rows only and does not wait. Long reads have threads with connections of their own.
 */
export async function openSqliteStore(
  dataDir: string,
  sync: 'full' | 'normal',
  warn: (message: string, error: unknown) => void = () => {},
): Promise<Store> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'svc.db')
  keepPrivate(path)
  // Setting `auto_vacuum` takes the lock of a writer, so only this connection does it. A file with tables stays as it is.
  const connection = openSqliteConnection(path, sync, 'pragma auto_vacuum = incremental')
  const writeDb = createSqliteKysely(connection)
  await migrateInTransaction(connection, writeDb)
  const writer = new SqliteWriter(connection, writeDb, warn)
  const commits = new GroupCommit(writer)
  const transact = <T>(work: TransactionWork<T>) => commits.transact('all', work)
  const readDb = createSqliteKysely(readThroughWriter(writer, connection, openSqliteConnection(path, sync)))
  const lists = createDrivenKysely(
    new ReaderThreads({ program: join(programsFolder(), 'reader-thread.cjs'), path, sync }),
  )
  const store: Store = {
    kind: 'sqlite',
    db: readDb,
    lists,
    transact,
    transactDurably: (work, signal) => retryUntilAvailable(() => transact(work), signal),
    // A file is not away for a moment: what fails is its disk.
    forRequests: () => store,
    now: null,
    commitMs: () => writer.commitMs,
    poolUse: () => null,
    releaseSpace: canReleasePages(connection) ? () => releaseSpace(writer, connection, transact) : null,
    async ping() {
      await requireFreeSpace(dataDir)
      await writer.ping(transact)
    },
    publish: () => {},
    subscribe: () => {},
    async close() {
      await commits.close()
      await lists.destroy()
      await readDb.destroy()
      await writeDb.destroy()
    },
  }
  return store
}

/** One step. After the last one it copies the write-ahead log into the file, which only then gets shorter. */
async function releaseSpace(
  writer: SqliteWriter,
  connection: SqliteConnection,
  transact: <T>(work: TransactionWork<T>) => Promise<T>,
): Promise<boolean> {
  const pages = await transact(async () => releasePages(connection))
  if (pages === PAGES_PER_STEP) return true
  if (pages > 0 && !writer.isOpen) connection.exec('pragma wal_checkpoint(passive)')
  return false
}

/** More than a usual commit writes. Before the disk is full, the health check has to say that writes are about to fail. */
const MIN_FREE_BYTES = 1024 * 1024

async function requireFreeSpace(dataDir: string): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir)
  if (bavail * bsize < MIN_FREE_BYTES) throw new StoreUnavailable('less than 1 MiB is free', DISK_FULL)
}

/**
 * Makes the files readable by their owner only: the folder may have existed before with wider permissions. SQLite gives
 * new files the permissions of the store itself. A process that may not change them does not own them.
 */
function keepPrivate(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'wx', 0o600))
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      if (existsSync(file)) chmodSync(file, 0o600)
    } catch {}
  }
}

/** In one transaction, so that a start that is killed in the middle leaves the store as it was. */
async function migrateInTransaction(connection: SqliteConnection, db: Db): Promise<void> {
  connection.exec('begin immediate')
  try {
    await migrateStore(db)
    connection.exec('commit')
  } catch (error) {
    if (connection.inTransaction()) connection.exec('rollback')
    throw error
  }
}

/**
 * Locks the folder until this process ends, however it ends: the operating system holds the lock. A second server on the
 * same folder would treat the runs of the first as orphaned.
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

/** A previous server may be about to end. */
const LOCK_WAIT_MS = 2_000

/** Copies the store into one consistent file while the server keeps running. The copy contains hashes and sealed secrets. */
export function copySqliteStore(dataDir: string, to: string): void {
  const path = join(dataDir, 'svc.db')
  if (!existsSync(path)) throw new Error(`the file ${path} does not exist`)
  closeSync(openSync(to, 'wx', 0o600))
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path)
  try {
    database.exec('pragma busy_timeout = 5000')
    database.prepare('vacuum into ?').run(to)
  } catch (error) {
    // A partial copy must neither look complete nor block the next one.
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
 * Reads through the writer's connection while it has no open transaction: a commit empties the page cache of every other
 * connection, and with a cold cache a read takes up to twice as long.
 */
function readThroughWriter(
  writer: SqliteWriter,
  connection: SqliteConnection,
  reader: SqliteConnection,
): SqliteConnection {
  return { ...reader, prepare: (text) => (writer.isOpen ? reader : connection).prepare(text) }
}
