import { conflict } from '../../platform/base/problem.ts'
import type { TraceHeaders } from '../../platform/base/trace-context.ts'
import { requireOpenCase } from '../../work/cases/create-case-task.ts'
import { findThreadUnscoped } from '../../customers/threads/thread-rows.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { listTaskFiles } from '../../work/files/rows.ts'
import type { TaskRow } from '../../platform/store/tables.ts'
import { planTask, queueTask } from '../../work/tasks/create-task.ts'
import { enforceRateLimit } from '../../identity/limits/minute-limit.ts'
import { isTerminalStatus } from '../../work/tasks/status.ts'
import { toTaskView } from '../../work/tasks/view.ts'

/**
 * Creates a new task with the request and the files of a finished one. It counts against the rate limit and belongs to the same case,
 * which must be open.
 */
export async function retryTask(
  ctx: Ctx,
  finished: TaskRow,
  actor: Actor,
  trace: TraceHeaders | null,
): Promise<{ task: TaskRow; files: string[] }> {
  if (!isTerminalStatus(finished.status)) throw conflict('task is not finished')
  const { wedge, task_type, input, actor: requester, constraints, tools, output_schema } = toTaskView(finished, [])
  const { client_id, thread_id, channel_id, case_id } = finished
  // A file that was deleted since is left out.
  const files = (await listTaskFiles(ctx.db, finished.id)).map(({ id }) => id)
  const request = { wedge, task_type, input, actor: requester, constraints, tools, output_schema, files }
  const origin = { client_id, thread_id, channel_id, case_id, retry_of: finished.id, trace }
  const plan = await planTask(ctx, { projectId: finished.project_id }, request, origin)
  return inTx(ctx, async (tx) => {
    if (case_id !== null) await requireOpenCase(tx, case_id)
    if (thread_id !== null) await requireFreeThread(tx, thread_id)
    await enforceRateLimit(tx, plan.project_id, ctx.config.taskRatePerMin, 'tasks')
    await queueTask(tx, plan, actor, { files })
    return { task: plan, files }
  })
}

async function requireFreeThread(tx: Tx, id: string): Promise<void> {
  const [thread] = await findThreadUnscoped(tx.db, { id })
  if (thread && thread.held_by_kind !== null)
    throw conflict('a person has taken the conversation over: give it back first')
}
