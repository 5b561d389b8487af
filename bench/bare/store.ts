import { hash } from 'node:crypto'
import { createRequire } from 'node:module'

/**
 * The minimum for the durable writes of the service: the driver, prepared statements, and one commit for the transactions
 * of one turn of the event loop. No scope, no leases, no rate limit, no second index.
 */
export interface BareStore {
  /** Runs the work in the next group commit; resolves when the commit is on disk. */
  commit<T>(work: () => T): Promise<T>
  insertTask(id: string, input: string): void
  taskOf(id: string): MaybePromise<Record<string, unknown> | undefined>
  setStatus(id: string, status: string, output: string | null): void
  insertEvents(events: readonly BareEvent[]): void
  eventsAfter(taskId: string, after: number, limit: number): MaybePromise<BareEvent[]>
  insertArtifact(id: string, taskId: string, size: number): void
  insertApproval(id: string, taskId: string): void
  decideApproval(id: string): void
  audit(action: string, subject: string): void
}

/** SQLite returns values, PostgreSQL promises. */
type MaybePromise<T> = T | Promise<T>

export interface BareEvent {
  task_id: string
  seq: number
  type: string
  ts: string
  data: string
}

type SqliteModule = typeof import('@photostructure/sqlite')
type Value = string | number | null

export function openBareStore(path: string): BareStore {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path)
  database.exec(`pragma journal_mode = wal; pragma synchronous = full; ${TABLES}`)
  const statement = (text: string) => {
    const prepared = database.prepare(text)
    return (...values: Value[]) => prepared.run(...values)
  }
  const insertTask = statement(`insert into tasks values (?, 'prj_bare', 'bench', 'say', 'queued', ?, 'null',
    '{"max_runtime_s":1800,"max_cost_usd":5,"approval_required":false}', '[]', null, null, ?, null)`)
  const selectTask = database.prepare('select * from tasks where id = ?')
  const setStatus = statement('update tasks set status = ?, output = ?, finished_at = ? where id = ?')
  const insertEvent = statement('insert into events values (?, ?, ?, ?, ?)')
  const selectEvents = database.prepare('select * from events where task_id = ? and seq > ? order by seq limit ?')
  const insertArtifact = statement(`insert into artifacts values (?, 'prj_bare', ?, 'output.json', ?, ?)`)
  const insertApproval = statement(
    `insert into approvals values (?, 'prj_bare', ?, 'records_get', '{}', 'pending', ?, null)`,
  )
  const decideApproval = statement(`update approvals set status = 'approved', decided_at = ? where id = ?`)
  const insertEntry = statement(
    `insert into audit_entries values ('prj_bare', ?, ?, 'key', 'key_bare', ?, ?, '{}', ?, ?)`,
  )
  const setHead = statement(`update audit_heads set seq = ?, hash = ? where chain = 'prj_bare'`)
  const nextEntry = createAuditChain()
  return {
    commit: createGroupCommit((command) => database.exec(command)),
    insertTask: (id, input) => void insertTask(id, input, now()),
    taskOf: (id) => selectTask.get(id) as Record<string, unknown> | undefined,
    setStatus: (id, status, output) => void setStatus(status, output, now(), id),
    insertEvents(events) {
      for (const { task_id, seq, type, ts, data } of events) insertEvent(task_id, seq, type, ts, data)
    },
    eventsAfter: (taskId, after, limit) => selectEvents.all(taskId, after, limit),
    insertArtifact: (id, taskId, size) => void insertArtifact(id, taskId, size, now()),
    insertApproval: (id, taskId) => void insertApproval(id, taskId, now()),
    decideApproval: (id) => void decideApproval(now(), id),
    audit(action, subject) {
      const { seq, ts, prev_hash, hash } = nextEntry(action, subject)
      insertEntry(seq, ts, action, subject, prev_hash, hash)
      setHead(seq, hash)
    },
  }
}

export const now = () => new Date().toISOString()

/** Returns a function that creates the next entry of the chain. The head is in memory; the service locks a row for it. */
export function createAuditChain() {
  let head = { seq: 0, hash: '0'.repeat(64) }
  return (action: string, subject: string) => {
    const entry = { seq: head.seq + 1, ts: now(), actor: 'key_bare', action, subject, prev_hash: head.hash }
    head = { seq: entry.seq, hash: hash('sha256', JSON.stringify(entry), 'hex') }
    return { ...entry, hash: head.hash }
  }
}

function createGroupCommit(exec: (command: string) => void): BareStore['commit'] {
  let waiting: (() => () => void)[] = []
  const flush = () => {
    const members = waiting
    waiting = []
    exec('begin immediate')
    const settled = members.map((member) => member())
    exec('commit')
    for (const settle of settled) settle()
  }
  return (work) =>
    new Promise((resolve) => {
      if (waiting.length === 0) setImmediate(flush)
      waiting.push(() => {
        const value = work()
        return () => resolve(value)
      })
    })
}

function loadSqlite(): SqliteModule {
  const load = createRequire(import.meta.url)
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const builtIn = major > 22 || (major === 22 && minor >= 13)
  return load(builtIn ? 'node:sqlite' : '@photostructure/sqlite') as SqliteModule
}

export const TABLES = `
  create table tasks (
    id text primary key, project_id text not null, wedge text not null, task_type text not null, status text not null,
    input text not null, actor text not null, constraints text not null, tools text not null, output_schema text,
    output text, created_at text not null, finished_at text);
  create table events (
    task_id text not null, seq bigint not null, type text not null, ts text not null, data text not null,
    primary key (task_id, seq));
  create table artifacts (
    id text primary key, project_id text not null, task_id text not null, name text not null, size bigint not null,
    created_at text not null);
  create table approvals (
    id text primary key, project_id text not null, task_id text not null, action text not null, payload text not null,
    status text not null, created_at text not null, decided_at text);
  create table audit_entries (
    chain text not null, seq bigint not null, ts text not null, actor_kind text not null, actor_id text not null,
    action text not null, subject text not null, data text not null, prev_hash text not null, hash text not null,
    primary key (chain, seq));
  create table audit_heads (chain text primary key, seq bigint not null, hash text not null);
  insert into audit_heads values ('prj_bare', 0, '')`
