import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import { StoreAway, toldApart, untilBack } from './away.ts'
import { DirectAdapter } from './dialect.ts'
import { migrate } from './migrations.ts'
import type { Db, Store } from './store.ts'
import type { Tables } from './tables.ts'

/**
 * One file, two connections: transactions that arrive together are committed together, because the flush to disk costs
 * more than all their statements; what is read meanwhile goes beside the writer (WAL) and sees committed rows only.
 */
export async function openSqlite(dataDir: string, sync: 'full' | 'normal'): Promise<Store> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'svc.db')
  const writer = openHandle(path, sync)
  const writing = kyselyOver(writer)
  await migrate(writing)
  const lane = new CommitLane(writer, writing)
  const reading = kyselyOver(besides(lane, writer, openHandle(path, sync)))
  return {
    kind: 'sqlite',
    db: reading,
    transact: (work) => lane.transact(work),
    outlast: (work, signal) => untilBack(() => lane.transact(work), signal),
    now: null,
    commitMs: () => lane.commitMs,
    ping: () => lane.ping(),
    tell: () => {},
    hear: () => {},
    async close() {
      await lane.close()
      await reading.destroy()
      await writing.destroy()
    },
  }
}

/**
 * Keeps every other service out of the folder until this process ends, however it ends: the lock is the operating
 * system's. A second one would end the runs of the first as its own left-overs.
 */
export function holdFolder(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const { DatabaseSync } = loadSqlite()
  const lock = new DatabaseSync(join(dataDir, 'svc.lock'))
  try {
    lock.exec(`pragma busy_timeout = ${HOLD_PATIENCE_MS}; begin exclusive`)
  } catch (error) {
    lock.close()
    if (!String(error).includes('locked')) throw error
    throw new Error(`another service uses the data folder ${dataDir}`, { cause: error })
  }
  return () => lock.close()
}

/** The one before may be about to end. */
const HOLD_PATIENCE_MS = 2_000

/** A consistent copy of the store in one file, made beside a service that goes on. It holds hashes and sealed secrets. */
export function copySqlite(dataDir: string, to: string): void {
  const path = join(dataDir, 'svc.db')
  if (!existsSync(path)) throw new Error(`there is no ${path}`)
  closeSync(openSync(to, 'wx', 0o600))
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path)
  try {
    database.exec('pragma busy_timeout = 5000')
    database.prepare('vacuum into ?').run(to)
  } finally {
    database.close()
  }
  const copy = openSync(to, 'r')
  fsyncSync(copy)
  closeSync(copy)
}

/**
 * Reads go through the writer's connection while no transaction is open on it: a commit empties the page cache of every
 * other connection, and with a cold cache the same read takes three times as long.
 */
function besides(lane: CommitLane, writer: Handle, reader: Handle): Handle {
  return { ...reader, prepare: (text) => (lane.open ? reader : writer).prepare(text) }
}

interface Member {
  work: (db: Db) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/**
 * Transactions run one after another inside one commit. Each has its own savepoint, so one that fails takes nothing
 * with it; nobody hears of success before the common commit is on disk.
 */
class CommitLane {
  #waiting: Member[] = []
  #draining: Promise<void> | null = null
  #closed = false
  commitMs = 0
  /** A write has failed since the last one that was tried for its own sake. */
  #refused = false
  /** Whether rows can be seen on this connection that are not committed. */
  open = false
  readonly #handle: Handle
  readonly #db: Db

  constructor(handle: Handle, db: Db) {
    this.#handle = handle
    this.#db = db
  }

  transact<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closed) return reject(new Error('the store is closed'))
      this.#waiting.push({ work, resolve: resolve as (value: unknown) => void, reject })
      this.#draining ??= this.#drain()
    })
  }

  /** Where a write failed, only a write shows that the disk takes them again. */
  async ping(): Promise<void> {
    const refused = this.#refused
    await this.transact(async () => refused && this.#handle.exec('pragma user_version = 0'))
    if (refused) this.#refused = false
  }

  /** Takes no more, and resolves when what was taken is done. */
  async close(): Promise<void> {
    this.#closed = true
    while (this.#draining) await this.#draining
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // One turn of the event loop gathers what arrives together.
      await new Promise(setImmediate)
      await this.#commit(this.#waiting.splice(0, MOST_TOGETHER))
    }
    this.#draining = null
  }

  async #commit(members: Member[]): Promise<void> {
    const done: (() => void)[] = []
    let begun = false
    try {
      this.open = true
      this.#handle.exec('begin immediate')
      begun = true
      for (const member of members) done.push(await this.#attempt(member))
      const began = performance.now()
      this.#handle.exec('commit')
      this.commitMs += (performance.now() - began - this.commitMs) / 8
    } catch (error) {
      this.#refused ||= error instanceof StoreAway
      this.#rollBack()
      // One that the disk had no room for must not take the others with it, again and again.
      if (begun && members.length > 1) for (const member of members) await this.#commit([member])
      else for (const member of members) member.reject(error)
      return
    } finally {
      this.open = false
    }
    for (const settle of done) settle()
  }

  #rollBack(): void {
    try {
      if (this.#handle.inTransaction()) this.#handle.exec('rollback')
    } catch {
      // The next begin tells.
    }
  }

  /** Runs one transaction and returns what to say once the commit is through. */
  async #attempt({ work, resolve, reject }: Member): Promise<() => void> {
    this.#handle.exec('savepoint member')
    try {
      const value = await work(this.#db)
      this.#handle.exec('release member')
      return () => resolve(value)
    } catch (error) {
      this.#refused ||= error instanceof StoreAway
      // A disk that is full may end the whole transaction, and with it what the others did.
      if (!this.#handle.inTransaction()) throw error
      this.#handle.exec('rollback to member')
      this.#handle.exec('release member')
      return () => reject(error)
    }
  }
}

const MOST_TOGETHER = 64

interface Handle {
  exec(statement: string): void
  inTransaction(): boolean
  prepare(text: string): Statement
  close(): void
}

interface Statement {
  reader: boolean
  all(parameters: readonly unknown[]): unknown[]
  run(parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint }
  iterate(parameters: readonly unknown[]): IterableIterator<unknown>
}

type SqliteModule = typeof import('@photostructure/sqlite')

/** `node:sqlite` where Node has it without a flag, else its backport with the same interface. */
function loadSqlite(): SqliteModule {
  const load = createRequire(import.meta.url)
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const builtIn = major > 22 || (major === 22 && minor >= 13)
  return load(builtIn ? 'node:sqlite' : '@photostructure/sqlite') as SqliteModule
}

function openHandle(path: string, sync: 'full' | 'normal'): Handle {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path)
  database.exec(`pragma busy_timeout = 5000; pragma journal_mode = wal; pragma synchronous = ${sync};
    pragma foreign_keys = on; pragma cache_size = -65536; pragma temp_store = memory`)
  const statements = new Map<string, Statement>()
  return {
    exec: (statement) => orAway(() => database.exec(statement)),
    inTransaction: () => database.isTransaction,
    close: () => database.close(),
    prepare(text) {
      const known = statements.get(text)
      if (known) return known
      const statement = adapt(database.prepare(text))
      if (statements.size >= MOST_STATEMENTS) statements.clear()
      statements.set(text, statement)
      return statement
    },
  }
}

const MOST_STATEMENTS = 500

type NativeStatement = ReturnType<InstanceType<SqliteModule['DatabaseSync']>['prepare']>

/** The few calls that Kysely makes, in the shape that it expects. */
function adapt(statement: NativeStatement): Statement {
  type Given = Parameters<NativeStatement['all']>
  const rows = rowsOf(statement)
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => rows(orAway(() => statement.all(...(parameters as Given)))),
    run: (parameters) => orAway(() => statement.run(...(parameters as Given))),
    iterate: (parameters) => rows(orAway(() => statement.all(...(parameters as Given)))).values(),
  }
}

function orAway<T>(call: () => T): T {
  try {
    return call()
  } catch (error) {
    throw toldApart(error)
  }
}

/** Rows as plain objects. Built here from lists, where the driver can give them, they cost half as much. */
function rowsOf(statement: NativeStatement): (answered: unknown[]) => object[] {
  // Drivers without it give objects with a null prototype; a plain one is what everybody else expects.
  if (typeof statement.setReturnArrays !== 'function') return (rows) => rows.map((row) => ({ ...(row as object) }))
  statement.setReturnArrays(true)
  const names = statement.columns().map(({ name }) => name)
  return (rows) =>
    rows.map((values) => {
      const row: Record<string, unknown> = {}
      for (let i = 0; i < names.length; i++) row[names[i] as string] = (values as unknown[])[i]
      return row
    })
}

function kyselyOver(handle: Handle): Db {
  const dialect = new SqliteDialect({ database: handle })
  const adapter = new DirectAdapter((text, parameters) => runDirect(handle.prepare(text), parameters))
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => adapter,
      createDriver: () => dialect.createDriver(),
      createIntrospector: (db) => dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
    },
  })
}

function runDirect(statement: Statement, parameters: readonly unknown[]): unknown[] {
  if (statement.reader) return statement.all(parameters)
  statement.run(parameters)
  return []
}
