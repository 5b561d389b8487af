import { sql } from 'kysely'
import { tokenHash } from '../../src/platform/base/tokens.ts'
import type { Db, Store } from '../../src/platform/store/store.ts'
import { CLIENT_STATEMENTS } from './client-statements.ts'
import { OTHER_PROJECTS, otherProjectId, seededId } from './expressions.ts'
import { insertReportSums } from './report-sums.ts'
import { TASK_STATEMENTS } from './task-statements.ts'

const PAGE = 10_000
const SPREAD_MS = 90 * 24 * 60 * 60_000

/** Tokens of the owner, who sees all projects, and of the client with the most tasks. */
export const OWNER_SESSION = 'svc_fst_bench_0123456789abcdefghijklmnopqrstuvwxyz'
export const CLIENT_SESSION = 'svc_cst_bench_0123456789abcdefghijklmnopqrstuvwxyz'

export const seededTaskId = (n: number) => seededId('task', n)

/**
 * Inserts the tasks of ninety days and what belongs to them: logs, artifacts, approvals, conversations, cases, records and
 * audit entries, in eight projects. The report sums are complete. A million tasks take a few minutes.
 */
export async function seedStore(store: Store, from: number, to: number): Promise<void> {
  const { id: founding, org_id } = await store.db
    .selectFrom('projects')
    .select(['id', 'org_id'])
    .orderBy('created_at')
    .executeTakeFirstOrThrow()
  if (from === 0) await store.transact((db) => insertOwners(db, founding, org_id))
  const head = await store.db.selectFrom('audit_heads').select('seq').where('chain', '=', founding).executeTakeFirst()
  const firstEntry = (head?.seq ?? 0) + 1 - from
  const start = Date.now() - SPREAD_MS
  for (let at = from; at < to; at += PAGE) {
    const last = Math.min(to, at + PAGE) - 1
    const minute = new Date(start + (SPREAD_MS * at) / to).toISOString().slice(0, 16)
    const insert = (db: Db, text: string) => insertRows(db, text, { at, last, founding, minute, firstEntry })
    await store.transact(async (db) => {
      for (const text of [...TASK_STATEMENTS, ...CLIENT_STATEMENTS]) await insert(db, text)
    })
  }
  const ids = { first: seededTaskId(from), last: seededTaskId(to - 1) }
  await store.transact((db) => insertReportSums(db, ids))
  await store.transact((db) => completeChain(db, founding))
  // PostgreSQL does both by itself after a while. SQLite plans without statistics, because the service collects none.
  if (store.kind === 'postgres') await sql`vacuum analyze`.execute(store.db)
}

interface SeedPage {
  at: number
  last: number
  founding: string
  minute: string
  /** The number of the audit entry of task 0. */
  firstEntry: number
}

/** Inserts rows for the numbers of the page, with SQL that both stores understand. */
async function insertRows(db: Db, text: string, page: SeedPage): Promise<void> {
  const { at, last, founding, minute, firstEntry } = page
  const numbers = `with recursive n(i) as (select ${at} union all select i + 1 from n where i < ${last})`
  const statement = text
    .replace('NUMBERS', numbers)
    .replaceAll('FOUNDING', founding)
    .replaceAll('MINUTE', minute)
    .replaceAll('FIRST_ENTRY', String(firstEntry))
    .replaceAll('NOW', new Date().toISOString())
  await sql.raw(statement).execute(db)
}

/** The other projects, a member, the sessions, and a channel and a webhook for each project. */
async function insertOwners(db: Db, founding: string, org_id: string): Promise<void> {
  const created_at = new Date().toISOString()
  const session = { created_at, expires_at: '2100-01-01T00:00:00.000Z' }
  const member_id = seededId('mem', 0)
  const owner = { id: member_id, org_id, email: 'owner@example.com', name: 'Owner', role: 'owner', password: null }
  await db
    .insertInto('members')
    .values({ ...owner, invite_hash: null, invite_expires_at: null, created_at })
    .execute()
  await db
    .insertInto('sessions')
    .values({ hash: tokenHash(OWNER_SESSION), member_id, ...session })
    .execute()
  await db
    .insertInto('client_sessions')
    .values({ hash: tokenHash(CLIENT_SESSION), project_id: founding, client_id: seededId('cli', 0), ...session })
    .execute()
  await insertChannelAndWebhook(db, founding, 0)
  for (let n = 1; n <= OTHER_PROJECTS; n++) {
    const project = { id: otherProjectId(n), org_id, slug: `other-${n}`, name: `Other ${n}`, tier: 'default' }
    await db
      .insertInto('projects')
      .values({ ...project, wedges: null, created_at })
      .execute()
    await insertChannelAndWebhook(db, project.id, n)
  }
}

async function insertChannelAndWebhook(db: Db, project_id: string, n: number): Promise<void> {
  const created_at = new Date().toISOString()
  const channel = {
    id: seededId('chan', n),
    project_id,
    connection_id: 'conn_before',
    address: `desk-${n}@example.com`,
  }
  const work = { wedge: 'bench', task_type: 'say', config: '{}', settle_s: 0, created_at }
  await sql`insert into channels ${sql.raw(listColumns({ ...channel, ...work }))}`.execute(db)
  // A webhook that is off sends nothing.
  const webhook = { id: seededId('hook', n), project_id, url: 'https://example.com/hook', events: '["*"]', enabled: 0 }
  await sql`insert into webhooks ${sql.raw(listColumns({ ...webhook, created_at, updated_at: created_at }))}`.execute(
    db,
  )
}

function listColumns(row: Record<string, string | number>): string {
  const values = Object.values(row).map((value) => (typeof value === 'number' ? value : `'${value}'`))
  return `(${Object.keys(row).join(', ')}) values (${values.join(', ')})`
}

/** Moves the head of the chain behind the seeded entries. */
async function completeChain(db: Db, chain: string): Promise<void> {
  const last = sql`(select max(seq) from audit_entries where chain = ${chain})`
  await sql`update audit_heads set seq = ${last}, hash = 'after' where chain = ${chain}`.execute(db)
  // The seeded entries have no valid hashes. After a checkpoint the service does not check them again.
  await sql`insert into audit_checkpoints (chain, seq, hash, at, kid, signature)
    select chain, seq, hash, ${new Date().toISOString()}, 'bench', 'none' from audit_heads where chain = ${chain}`.execute(
    db,
  )
}
