import { notFound } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import type { Cases } from '../store/tables.ts'
import type { Case } from './record.ts'
import { type CaseChange, changeCase } from './move.ts'
import { showOne } from './read.ts'
import { caseRow } from './rows.ts'

/** The case of a task, for its agent. The id comes from the task's row, never from the agent. */
export async function caseForAgent(ctx: Ctx, caseId: string | null): Promise<Case> {
  return showOne(ctx.db, await requireCase(ctx, caseId))
}

export async function updateCaseByAgent(
  ctx: Ctx,
  caseId: string | null,
  change: CaseChange,
  actor: Actor,
): Promise<Case> {
  return showOne(ctx.db, await changeCase(ctx, await requireCase(ctx, caseId), change, actor))
}

async function requireCase(ctx: Ctx, caseId: string | null): Promise<Cases> {
  const row = caseId === null ? undefined : await caseRow(ctx.db, caseId)
  if (!row) throw notFound('case')
  return row
}
