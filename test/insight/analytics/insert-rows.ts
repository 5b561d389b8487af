import { addDecisionToReports, addEndedTaskToReports } from '../../../src/approvals/lifecycle/add-to-reports.ts'
import { createId } from '../../../src/platform/base/ids.ts'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { createRandomPool } from '../../../src/platform/ctx/system-world.ts'
import type { ApprovalRow, TaskRow } from '../../../src/platform/store/tables.ts'
import { isTerminalStatus } from '../../../src/work/tasks/status.ts'
import type { TestApp } from '../../app.ts'

const MINUTE = 60_000
const random = createRandomPool()

/** Inserts tasks as the service would, and returns the rows. */
export async function insertTasks(app: TestApp, rows: readonly Partial<TaskRow>[]): Promise<TaskRow[]> {
  const project_id = await projectOf(app)
  const tasks = rows.map((row): TaskRow => {
    const created_at = row.created_at ?? new Date(app.clock.now() - 30 * MINUTE).toISOString()
    return {
      id: idAt('task', created_at),
      project_id,
      wedge: 'echo',
      task_type: 'say',
      status: 'succeeded',
      input: 'null',
      actor: 'null',
      constraints: '{}',
      tools: '[]',
      output_schema: null,
      output: null,
      error: null,
      cost_micros: 0,
      client_id: null,
      thread_id: null,
      channel_id: null,
      case_id: null,
      schedule_id: null,
      retry_of: null,
      requested_by_kind: null,
      requested_by_id: null,
      last_event_id: 0,
      counted_events: 0,
      epoch: 0,
      replica: 'somewhere else',
      ready_at: null,
      created_at,
      started_at: null,
      finished_at: null,
      log_pruned_at: null,
      traceparent: null,
      tracestate: null,
      ...row,
    }
  })
  for (let n = 0; n < tasks.length; n += 200) {
    const some = tasks.slice(n, n + 200)
    await inTx(app.ctx, async (tx) => {
      await tx.db.insertInto('tasks').values(some).execute()
      for (const task of some) if (isTerminalStatus(task.status)) addEndedTaskToReports(tx, task)
    })
  }
  return tasks
}

export type NewApproval = Partial<ApprovalRow> & { waited: number | null }

export async function insertApprovals(app: TestApp, rows: readonly NewApproval[]): Promise<ApprovalRow[]> {
  const project_id = await projectOf(app)
  const approvals = rows.map(({ waited, ...row }): ApprovalRow => {
    const created_at = row.created_at ?? new Date(app.clock.now() - 30 * MINUTE).toISOString()
    return {
      id: idAt('apr', created_at),
      project_id,
      task_id: 'task_x',
      wedge: 'echo',
      task_type: 'say',
      action: 'send',
      risk: 'high',
      path: 'action',
      payload: '{}',
      payload_sha256: '',
      edited: null,
      status: 'approved',
      policy_reason: null,
      policy_rule: null,
      reason: null,
      revise: 0,
      note: null,
      connection_id: null,
      connection: null,
      client_id: null,
      tool: null,
      created_at,
      expires_at: '2099-01-01T00:00:00.000Z',
      decided_at: waited === null ? null : new Date(Date.parse(created_at) + waited).toISOString(),
      decided_by_kind: 'member',
      decided_by_id: 'mem_1',
      needed: 1,
      approvers: null,
      excludes_requester: 0,
      escalate: null,
      escalated_at: null,
      notify_at: null,
      assignee_id: null,
      version: 0,
      has_messages: 0,
      held_until: null,
      held: null,
      held_by_id: null,
      dropped: null,
      ...row,
    }
  })
  for (let n = 0; n < approvals.length; n += 200) {
    const some = approvals.slice(n, n + 200)
    await inTx(app.ctx, async (tx) => {
      await tx.db.insertInto('approvals').values(some).execute()
      for (const approval of some) if (approval.status !== 'pending') addDecisionToReports(tx, approval)
    })
  }
  return approvals
}

async function projectOf(app: TestApp): Promise<string> {
  return (await app.call('GET', '/v1/projects')).body.data[0].id
}

/** An id of the time of creation, as the service would create it. */
const idAt = (prefix: 'task' | 'apr', created_at: string) => createId(prefix, Date.parse(created_at), random)

/** Ends tasks and decides approvals as the service would. The rows have their new values. */
export function endRows(
  app: TestApp,
  { tasks = [], approvals = [] }: { tasks?: readonly TaskRow[]; approvals?: readonly ApprovalRow[] },
): Promise<void> {
  return inTx(app.ctx, async (tx) => {
    for (const task of tasks) {
      const { id, status, cost_micros } = task
      await tx.db.updateTable('tasks').set({ status, cost_micros }).where('id', '=', id).execute()
      addEndedTaskToReports(tx, task)
    }
    for (const approval of approvals) {
      const { id, status, decided_at, decided_by_kind } = approval
      await tx.db.updateTable('approvals').set({ status, decided_at, decided_by_kind }).where('id', '=', id).execute()
      addDecisionToReports(tx, approval)
    }
  })
}
