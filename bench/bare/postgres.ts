import pg from 'pg'
import { createAuditChain, type BareEvent, type BareStore, now, TABLES } from './store.ts'

type Statement = [name: string, text: string, values: unknown[]]

/** The same writes on PostgreSQL: one connection writes in group commits, other connections read. */
export async function openBarePostgres(url: string): Promise<BareStore> {
  pg.types.setTypeParser(pg.types.builtins.INT8, Number)
  const readers = new pg.Pool({ connectionString: url, max: 8 })
  await readers.query(TABLES)
  const writer = new pg.Client({ connectionString: url })
  await writer.connect()
  let pending: Statement[] = []
  const write = (...statement: Statement) => void pending.push(statement)
  const nextEntry = createAuditChain()
  return {
    commit: createGroupCommit(async () => {
      const statements = pending
      pending = []
      await writer.query('begin')
      for (const [name, text, values] of statements) await writer.query({ name, text, values })
      await writer.query('commit')
    }),
    insertTask: (id, input) => write('task', INSERT_TASK, [id, input, now()]),
    async taskOf(id) {
      return (await readers.query({ name: 'one', text: 'select * from tasks where id = $1', values: [id] })).rows[0]
    },
    setStatus: (id, status, output) => write('status', SET_STATUS, [status, output, now(), id]),
    insertEvents: (events) => write('events', INSERT_EVENTS, toColumns(events)),
    async eventsAfter(...values) {
      return (await readers.query<BareEvent>({ name: 'events', text: SELECT_EVENTS, values })).rows
    },
    insertArtifact: (id, taskId, size) => write('artifact', INSERT_ARTIFACT, [id, taskId, size, now()]),
    insertApproval: (id, taskId) => write('approval', INSERT_APPROVAL, [id, taskId, now()]),
    decideApproval: (id) => write('decision', DECIDE_APPROVAL, [now(), id]),
    audit(action, subject) {
      const { seq, ts, prev_hash, hash } = nextEntry(action, subject)
      write('entry', INSERT_ENTRY, [seq, ts, action, subject, prev_hash, hash])
      write('head', SET_HEAD, [seq, hash])
    },
  }
}

/** Transactions that arrive during a commit share the next commit. */
function createGroupCommit(send: () => Promise<void>): BareStore['commit'] {
  let waiting: (() => () => void)[] = []
  let busy = false
  const flush = async () => {
    while (waiting.length > 0) {
      const members = waiting
      waiting = []
      const settled = members.map((member) => member())
      await send()
      for (const settle of settled) settle()
    }
    busy = false
  }
  return (work) =>
    new Promise((resolve) => {
      waiting.push(() => {
        const value = work()
        return () => resolve(value)
      })
      if (busy) return
      busy = true
      setImmediate(() => void flush())
    })
}

function toColumns(events: readonly BareEvent[]): unknown[] {
  return [
    events.map((event) => event.task_id),
    events.map((event) => event.seq),
    events.map((event) => event.type),
    events.map((event) => event.ts),
    events.map((event) => event.data),
  ]
}

const INSERT_TASK = `insert into tasks values ($1, 'prj_bare', 'bench', 'say', 'queued', $2, 'null',
  '{"max_runtime_s":1800,"max_cost_usd":5,"approval_required":false}', '[]', null, null, $3, null)`
const SET_STATUS = 'update tasks set status = $1, output = $2, finished_at = $3 where id = $4'
const INSERT_EVENTS =
  'insert into events select * from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[])'
const SELECT_EVENTS = 'select * from events where task_id = $1 and seq > $2 order by seq limit $3'
const INSERT_ARTIFACT = `insert into artifacts values ($1, 'prj_bare', $2, 'output.json', $3, $4)`
const INSERT_APPROVAL = `insert into approvals values ($1, 'prj_bare', $2, 'records_get', '{}', 'pending', $3, null)`
const DECIDE_APPROVAL = `update approvals set status = 'approved', decided_at = $1 where id = $2`
const INSERT_ENTRY = `insert into audit_entries values ('prj_bare', $1, $2, 'key', 'key_bare', $3, $4, '{}', $5, $6)`
const SET_HEAD = `update audit_heads set seq = $1, hash = $2 where chain = 'prj_bare'`
