import { expect } from 'vitest'
import type { Db } from '../../src/store/store.ts'
import type { ReceivedRequest } from '../fake-upstream.ts'
import { numbersUpTo } from '../events/stream-reader.ts'
import type { ApiResponse, StreamedEvent } from '../http.ts'
import { eventually } from '../runs/scripted-agent.ts'

/** Somebody who can ask the service. */
export interface ApiCaller {
  call(method: string, path: string, body?: unknown): Promise<ApiResponse>
  events(taskId: string): Promise<StreamedEvent[]>
}

/** What callers were told and what the outside saw: whatever happened since, it must be true. */
export interface Acknowledged {
  tasks?: Iterable<string>
  /** Approvals by their decision. */
  decisions?: Iterable<readonly [string, string]>
  received?: readonly ReceivedRequest[]
}

/**
 * All that must hold after any fault: every task of the store comes to its end and its log is whole; what was
 * acknowledged is there; nothing stays open; no approval's effect left twice; the audit chain holds. Answers the tasks.
 */
export async function expectInvariants(
  witness: ApiCaller,
  db: Db,
  { tasks = [], decisions = [], received }: Acknowledged = {},
): Promise<Map<string, ApiResponse['body']>> {
  const ids = (await db.selectFrom('tasks').select('id').execute()).map(({ id }) => id)
  expect([...tasks].filter((id) => !ids.includes(id))).toEqual([])
  const ended = new Map<string, ApiResponse['body']>()
  for (let at = 0; at < ids.length; at += PARALLEL_TASKS) {
    const some = ids.slice(at, at + PARALLEL_TASKS)
    await Promise.all(some.map(async (id) => ended.set(id, await expectCompleteLog(witness, id))))
  }
  await expectDecisions(db, decisions)
  await expectEffectsOnce(db, received)
  const { body } = await witness.call('GET', '/v1/audit/verify')
  expect(body).toMatchObject({ ok: true, first_bad_seq: null })
  return ended
}

const PARALLEL_TASKS = 50

/** Follows a task to its end and checks all that must hold of its log and its record. Answers the record. */
export async function expectCompleteLog(witness: ApiCaller, taskId: string): Promise<ApiResponse['body']> {
  const events = await witness.events(taskId)
  const { status, body: task } = await witness.call('GET', `/v1/tasks/${taskId}`)
  expect(status).toBe(200)
  expect(events.map(({ id }) => Number(id))).toEqual(numbersUpTo(events.length))
  expect(events.map(({ data }) => [data.id, data.seq, data.task_id])).toEqual(
    numbersUpTo(events.length).map((seq) => [seq, seq, taskId]),
  )
  const types = events.map(({ event }) => event)
  const end = types.indexOf('task.finished')
  expect(types[0]).toBe('task.created')
  // Only a note on the run may follow its end.
  expect(types.slice(end + 1).filter((type) => type !== 'feedback.recorded')).toEqual([])
  expect(types.filter((type) => type === 'task.created' || type === 'task.finished')).toHaveLength(2)
  const { status: last, error = null } = events[end]?.data.data ?? {}
  expect(task).toMatchObject({ last_event_id: events.length, status: last })
  expect(task.error).toEqual(error)
  return task
}

/** An acknowledged decision stands, and nobody is asked any more: all tasks are over. */
async function expectDecisions(db: Db, decisions: Iterable<readonly [string, string]>): Promise<void> {
  const rows = await db.selectFrom('approvals').select(['id', 'status']).execute()
  const statuses = new Map(rows.map(({ id, status }) => [id, status]))
  expect(rows.filter(({ status }) => status === 'pending')).toEqual([])
  for (const [id, decision] of decisions) expect([id, statuses.get(id)]).toEqual([id, decision])
}

/** What left was approved and stands in the ledger, once; what is in the ledger has an outcome. */
async function expectEffectsOnce(db: Db, received: readonly ReceivedRequest[] | undefined): Promise<void> {
  const open = db.selectFrom('effects').select('approval_id').where('outcome', '=', 'sent')
  // A lost run is ended first and its effects are settled after it.
  await eventually(async () => (await open.execute()).length === 0)
  const effects = await db
    .selectFrom('effects')
    .innerJoin('approvals', 'approvals.id', 'effects.approval_id')
    .select(['approval_id', 'outcome', 'approvals.status'])
    .select(['effects.payload_sha256 as sent', 'approvals.payload_sha256 as decided'])
    .execute()
  for (const { outcome, status, sent, decided } of effects) {
    expect(['ok', 'failed', 'unknown']).toContain(outcome)
    expect(['approved', 'auto_approved']).toContain(status)
    expect(sent).toBe(decided)
  }
  if (!received) return
  const claimed = effects.map(({ approval_id }) => approval_id)
  const keys = received.map(({ headers }) => String(headers['idempotency-key']))
  expect(new Set(keys).size).toBe(keys.length)
  expect(keys.filter((key) => !claimed.includes(key))).toEqual([])
  // One that never left cannot be said to have been answered.
  for (const { approval_id, outcome } of effects) if (outcome === 'ok') expect(keys).toContain(approval_id)
}
