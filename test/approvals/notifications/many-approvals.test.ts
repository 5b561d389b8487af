import { sql } from 'kysely'
import { expect, test } from 'vitest'
import {
  listDueMessages,
  listDueNotices,
  listOutdatedMessages,
} from '../../../src/approvals/notifications/message-rows.ts'
import { isPostgres } from '../../../src/platform/store/dialect.ts'
import type { Db } from '../../../src/platform/store/store.ts'
import type { ApprovalRow, NotificationMessageRow } from '../../../src/platform/store/tables.ts'
import { eachStore, type TestApp, testApp } from '../../app.ts'
import { insertApprovals } from '../../insight/analytics/insert-rows.ts'

const PENDING = 10_000
const DECIDED = 5

eachStore((store) => {
  test('with 10,000 pending approvals, the rounds of the loop read only what is due', async () => {
    const app = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
    const pending = await insertApprovals(app, toldApprovals('pending', PENDING))
    const decided = await insertApprovals(app, toldApprovals('approved', DECIDED))
    await insertMessages(app, pending, { state: 'sent' })
    const outdated = await insertMessages(app, decided, { state: 'sent' })
    const later = new Date(app.clock.now() + 3_600_000).toISOString()
    await insertMessages(app, pending.slice(0, 2_000), { kind: 'mail', due_at: later })
    const due = await insertMessages(app, pending.slice(0, DECIDED), { kind: 'telegram' })
    const { db } = app.ctx
    // PostgreSQL does it by itself from time to time; SQLite plans without.
    if (isPostgres(db)) await sql.raw('analyze').execute(db)

    const now = { now: new Date(app.clock.now()).toISOString() }
    const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id).toSorted()
    const statements = recordRuns(db)
    expect(idsOf(await listDueMessages(db, now))).toEqual(idsOf(due))
    expect(idsOf(await listOutdatedMessages(db, now))).toEqual(idsOf(outdated))
    expect(await listDueNotices(db, now)).toEqual([])
    const plans = await Promise.all([...statements].map((statement) => explain(db, statement)))
    expect(plans).toEqual([
      expect.stringMatching(/notification_messages_due/),
      expect.stringMatching(/approvals_outdated[^]*notification_messages_shown|_shown[^]*approvals_outdated/),
      expect.stringMatching(/approvals_notify/),
    ])
    for (const plan of plans) {
      expect(plan).not.toMatch(/SCAN (?:approvals|notification_messages)(?! USING)/)
      expect(plan).not.toMatch(/Seq Scan on (?:approvals|notification_messages)/)
    }
  })
})

const toldApprovals = (status: ApprovalRow['status'], length: number) =>
  Array.from({ length }, () => ({ status, waited: null, has_messages: 1 as const }))

/** One message about each approval. */
async function insertMessages(
  app: TestApp,
  approvals: readonly ApprovalRow[],
  more: Partial<NotificationMessageRow>,
): Promise<NotificationMessageRow[]> {
  const now = new Date(app.clock.now()).toISOString()
  const rows = approvals.map(
    ({ id, project_id }): NotificationMessageRow => ({
      id: app.ctx.world.newId('ntm'),
      project_id,
      approval_id: id,
      member_id: 'mem_1',
      kind: 'slack',
      address: 'U1',
      state: 'waiting',
      is_digest: 0,
      due_at: now,
      attempts: 0,
      claimed_by: null,
      claimed_until: null,
      external_id: null,
      shown: 'pending',
      shown_version: 0,
      error: null,
      created_at: now,
      sent_at: null,
      ...more,
    }),
  )
  for (let n = 0; n < rows.length; n += 200) {
    const some = rows.slice(n, n + 200)
    await app.ctx.store.transact(
      async (db) => void (await db.insertInto('notification_messages').values(some).execute()),
    )
  }
  return rows
}

interface RunStatement {
  text: string
  parameters: readonly unknown[]
}

/** The prepared statements that are run from now on. */
function recordRuns(db: Db): RunStatement[] {
  const adapter = db.getExecutor().adapter as unknown as { run: (...args: unknown[]) => unknown }
  const run = adapter.run.bind(adapter)
  const statements: RunStatement[] = []
  adapter.run = (text, parameters, ...more) => {
    statements.push({ text: String(text), parameters: parameters as unknown[] })
    return run(text, parameters, ...more)
  }
  return statements
}

async function explain(db: Db, { text, parameters }: RunStatement): Promise<string> {
  let n = 0
  const filled = text.replaceAll(
    /\$(\d+)|\?/g,
    (_, place?: string) => `'${String(parameters[place ? Number(place) - 1 : n++])}'`,
  )
  const command = isPostgres(db) ? 'explain' : 'explain query plan'
  const { rows } = await sql.raw<Record<string, unknown>>(`${command} ${filled}`).execute(db)
  return rows.map((row) => String(row['QUERY PLAN'] ?? row['detail'])).join('\n')
}
