import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openStore } from '../../src/platform/store/open-store.ts'
import { anyStore, startTestApp, writeFiles } from '../app.ts'
import { CALLER_AGENT, gatedWedgeFiles } from '../approvals/decisions/gated-app.ts'
import { openTableLock } from './table-lock.ts'
import { dropDatabase } from '../postgres.ts'
import { eventually } from '../execution/runs/scripted-agent.ts'
import { DESK_WEDGES, NO_RATE_LIMIT } from '../work/tasks/scripted-agent.ts'

anyStore((store) => {
  test('a stop does not wait for runs that wait for approvals, and releases them together', async () => {
    const app = await startTestApp({ store, wedges: DESK_WEDGES, env: NO_RATE_LIMIT })
    const { config } = app.ctx
    const ids = await Promise.all(
      Array.from({ length: 6 }, async () => (await app.createTask({ wedge: 'desk', task_type: 'gated' })).id),
    )
    for (const id of ids) await app.events(id, { until: ({ event }) => event === 'approval.requested' })
    // The clock of the app stands still, so a stop that waits for ten seconds would not return.
    await app.app.stop()
    const reopened = await openStore(config, () => {})
    const { db } = reopened
    const tasks = await db.selectFrom('tasks').select(['status', 'replica']).execute()
    expect(tasks).toEqual(ids.map(() => ({ status: 'awaiting_approval', replica: null })))
    const approvals = await db.selectFrom('approvals').select('status').execute()
    expect(approvals).toEqual(ids.map(() => ({ status: 'pending' })))
    if (store === 'postgres') {
      const { rows } = await sql`select count(distinct xmin::text)::int as n from tasks`.execute(db)
      expect(rows).toEqual([{ n: 1 }])
    }
    await reopened.close()
    rmSync(app.dir, { recursive: true, force: true })
    if (config.databaseUrl) await dropDatabase(config.databaseUrl)
  })

  test('a stop interrupts custom agents without a checkpoint, and the reason of their approvals says so', async () => {
    const agentDir = mkdtempSync(join(tmpdir(), 'svc-drain-'))
    writeFiles(agentDir, CALLER_AGENT)
    const env = { SVC_AGENT_DIR: agentDir, SVC_AGENT_COMMAND: 'node agent.mjs', ...NO_RATE_LIMIT }
    const app = await startTestApp({ store, wedges: gatedWedgeFiles('gate'), env })
    const { config } = app.ctx
    const calls = [{ path: 'gate', gate: true, body: { tool: 'book_room', input: {} } }]
    const { id } = await app.createTask({ wedge: 'gate', task_type: 'act', input: { calls } })
    await app.events(id, { until: ({ event }) => event === 'approval.requested' })
    await app.app.stop()
    const reopened = await openStore(config, () => {})
    const [task] = await reopened.db.selectFrom('tasks').select(['status', 'error']).execute()
    expect([task?.status, JSON.parse(task?.error ?? '').reason]).toEqual(['failed', 'interrupted'])
    const reason = 'the task failed before a decision: the run was interrupted by a restart'
    const approvals = await reopened.db.selectFrom('approvals').select(['status', 'reason']).execute()
    expect(approvals).toEqual([{ status: 'expired', reason }])
    await reopened.close()
    for (const dir of [app.dir, agentDir]) rmSync(dir, { recursive: true, force: true })
    if (config.databaseUrl) await dropDatabase(config.databaseUrl)
  })
})

test('a stop waits for a request that is being stored, and releases its run', async () => {
  const app = await startTestApp({ store: 'postgres', wedges: DESK_WEDGES, env: NO_RATE_LIMIT })
  const { config } = app.ctx
  const lock = await openTableLock(config.databaseUrl ?? '')
  await lock.hold('approvals')
  const { id } = await app.createTask({ wedge: 'desk', task_type: 'gated' })
  await lock.waitForBlocked(1)
  const stopped = app.app.stop()
  await eventually(async () => (await fetch(`${app.url}/readyz`).catch(() => null))?.status !== 200)
  await lock.release()
  await stopped
  const reopened = await openStore(config, () => {})
  const [task] = await reopened.db.selectFrom('tasks').select(['id', 'status', 'replica']).execute()
  expect(task).toEqual({ id, status: 'awaiting_approval', replica: null })
  await reopened.close()
  rmSync(app.dir, { recursive: true, force: true })
})
