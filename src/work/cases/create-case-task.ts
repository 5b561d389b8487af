import type { z } from 'zod'
import { conflict } from '../../platform/base/problem.ts'
import type { TraceHeaders } from '../../platform/base/trace-context.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import type { CaseRow, TaskRow } from '../../platform/store/tables.ts'
import { planTask, queueTask, TaskRequest } from '../tasks/create-task.ts'
import { lockCase } from './rows.ts'

/** The request of a task without its wedge, which is the wedge of the case. */
export const CaseTaskInput = TaskRequest.omit({ wedge: true })

/** Creates a task of the case's wedge, for the client of the case. */
export async function createCaseTask(
  ctx: Ctx,
  found: CaseRow,
  input: z.infer<typeof CaseTaskInput>,
  actor: Actor,
  trace: TraceHeaders | null,
): Promise<TaskRow> {
  const origin = { case_id: found.id, client_id: found.client_id, trace }
  const plan = await planTask(ctx, { projectId: found.project_id }, { ...input, wedge: found.wedge }, origin)
  return inTx(ctx, async (tx) => {
    await requireOpenCase(tx, found.id)
    await queueTask(tx, plan, actor, { files: input.files })
    return plan
  })
}

/** Locks the case until the commit, so that it cannot be closed before the task is created. 409 if it is closed. */
export async function requireOpenCase(tx: Tx, caseId: string): Promise<void> {
  const row = await lockCase(tx.db, caseId)
  if (row?.status !== 'open') throw conflict('case is closed')
}
