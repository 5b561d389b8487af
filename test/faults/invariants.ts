import { expect } from 'vitest'
import type { Db } from '../../src/platform/store/store.ts'
import type { ReceivedRequest } from '../fake-upstream.ts'
import { numbersUpTo } from '../work/events/stream-reader.ts'
import type { ApiResponse, StreamedEvent } from '../http.ts'
import { expectExactReport } from '../insight/analytics/expected-report.ts'
import { eventually } from '../execution/runs/scripted-agent.ts'

/** A client of the API: a test app or a service process. */
export interface ApiCaller {
  call(method: string, path: string, body?: unknown): Promise<ApiResponse>
  events(taskId: string): Promise<StreamedEvent[]>
}

/** What the service acknowledged to clients, and the requests that the upstream server received. */
export interface Acknowledged {
  tasks?: Iterable<string>
  /** Approval ids with the acknowledged status. */
  decisions?: Iterable<readonly [string, string]>
  received?: readonly ReceivedRequest[]
}

/**
 * Checks what must hold after any fault: every stored task ends and has a complete log; acknowledged tasks and
 * decisions exist; no approval is pending; no action was sent twice; the audit chain verifies; the report of a year has
 * every task and approval once. Returns the tasks by id.
 */
export async function expectInvariants(
  caller: ApiCaller,
  db: Db,
  { tasks = [], decisions = [], received }: Acknowledged = {},
): Promise<Map<string, ApiResponse['body']>> {
  const ids = (await db.selectFrom('tasks').select('id').execute()).map(({ id }) => id)
  expect([...tasks].filter((id) => !ids.includes(id))).toEqual([])
  const ended = new Map<string, ApiResponse['body']>()
  for (let start = 0; start < ids.length; start += PARALLEL_TASKS) {
    const batch = ids.slice(start, start + PARALLEL_TASKS)
    await Promise.all(batch.map(async (id) => ended.set(id, await expectCompleteLog(caller, id))))
  }
  await expectDecisions(db, decisions)
  await expectEffectsOnce(db, received)
  const { body } = await caller.call('GET', '/v1/audit/verify')
  expect(body).toMatchObject({ ok: true, first_bad_seq: null })
  await expectExactReport((method, path) => caller.call(method, path), db)
  return ended
}

const PARALLEL_TASKS = 50

/** Follows a task to its end, checks its log against its row, and returns the task. */
export async function expectCompleteLog(caller: ApiCaller, taskId: string): Promise<ApiResponse['body']> {
  const events = await caller.events(taskId)
  const { status, body: task } = await caller.call('GET', `/v1/tasks/${taskId}`)
  expect(status).toBe(200)
  expect(events.map(({ id }) => Number(id))).toEqual(numbersUpTo(events.length))
  expect(events.map(({ data }) => [data.id, data.seq, data.task_id])).toEqual(
    numbersUpTo(events.length).map((seq) => [seq, seq, taskId]),
  )
  const types = events.map(({ event }) => event)
  const end = types.indexOf('task.finished')
  expect(types[0]).toBe('task.created')
  // Only feedback may follow the end of a task.
  expect(types.slice(end + 1).filter((type) => type !== 'feedback.recorded')).toEqual([])
  expect(types.filter((type) => type === 'task.created' || type === 'task.finished')).toHaveLength(2)
  const { status: finalStatus, error = null } = events[end]?.data.data ?? {}
  expect(task).toMatchObject({ last_event_id: events.length, status: finalStatus })
  expect(task.error).toEqual(error)
  return task
}

/** Checks that acknowledged decisions are stored and that no approval is pending. */
async function expectDecisions(db: Db, decisions: Iterable<readonly [string, string]>): Promise<void> {
  const rows = await db.selectFrom('approvals').select(['id', 'status']).execute()
  const statuses = new Map(rows.map(({ id, status }) => [id, status]))
  expect(rows.filter(({ status }) => status === 'pending')).toEqual([])
  for (const [id, decision] of decisions) expect([id, statuses.get(id)]).toEqual([id, decision])
}

/** Checks that every sent action was approved and is in the ledger once, with an outcome. */
async function expectEffectsOnce(db: Db, received: readonly ReceivedRequest[] | undefined): Promise<void> {
  const open = db.selectFrom('effects').select('id').where('outcome', '=', 'sent')
  // The service ends an orphaned task first and records the outcome of its effects afterwards.
  await eventually(async () => (await open.execute()).length === 0)
  const effects = await db
    .selectFrom('effects')
    .innerJoin('approvals', 'approvals.id', 'effects.id')
    .select(['effects.id', 'outcome', 'approvals.status'])
    .select(['effects.payload_sha256 as sent', 'approvals.payload_sha256 as decided'])
    .execute()
  for (const { outcome, status, sent, decided } of effects) {
    expect(['ok', 'failed', 'unknown']).toContain(outcome)
    expect(['approved', 'auto_approved']).toContain(status)
    expect(sent).toBe(decided)
  }
  if (!received) return
  const claimed = effects.map(({ id }) => id)
  const keys = received.map(({ headers }) => String(headers['idempotency-key']))
  expect(new Set(keys).size).toBe(keys.length)
  expect(keys.filter((key) => !claimed.includes(key))).toEqual([])
  // An action that was never sent cannot have the outcome ok.
  for (const { id, outcome } of effects) if (outcome === 'ok') expect(keys).toContain(id)
}
