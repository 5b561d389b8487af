import { conflict } from '../base/problem.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import type { TaskRow } from '../store/tables.ts'
import { enforceRateLimit } from '../tasks/rate-limit.ts'
import { planTask, queueTask } from '../tasks/create-task.ts'
import { toTaskView } from '../tasks/view.ts'
import { isTerminalStatus } from '../tasks/status.ts'
import { requireOpenCase } from '../cases/create-case-task.ts'

/**
 * A new task with the request of one that is over, counted like any other that a founder asks for. It belongs to the same
 * case, which must be open.
 */
export async function retryFinishedTask(ctx: Ctx, over: TaskRow, actor: Actor): Promise<TaskRow> {
  if (!isTerminalStatus(over.status)) throw conflict('task is not finished')
  const { wedge, task_type, input, actor: asked, constraints, tools, output_schema } = toTaskView(over, [])
  const { client_id, thread_id, channel_id, case_id } = over
  const request = { wedge, task_type, input, actor: asked, constraints, tools, output_schema }
  const origin = { client_id, thread_id, channel_id, case_id, retry_of: over.id }
  const plan = await planTask(ctx, { projectId: over.project_id }, request, origin)
  return inTx(ctx, async (tx) => {
    if (case_id !== null) await requireOpenCase(tx, case_id)
    await enforceRateLimit(tx, plan.project_id, ctx.config.taskRatePerMin, 'tasks')
    await queueTask(tx, plan, actor)
    return plan
  })
}
