import { notFound } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import type { CaseRow } from '../../platform/store/tables.ts'
import { type CaseChange, changeCase } from './change-case.ts'
import { readCaseView } from './read-cases.ts'
import { findCaseUnscoped } from './rows.ts'
import type { CaseView } from './view.ts'

/** The case of a task, for its agent. `caseId` comes from the row of the task, never from the agent. */
export async function readCaseForAgent(ctx: Ctx, caseId: string | null): Promise<CaseView> {
  return readCaseView(ctx.db, await requireCase(ctx, caseId))
}

export async function changeCaseByAgent(
  ctx: Ctx,
  caseId: string | null,
  change: CaseChange,
  actor: Actor,
): Promise<CaseView> {
  return readCaseView(ctx.db, await changeCase(ctx, await requireCase(ctx, caseId), change, actor))
}

async function requireCase(ctx: Ctx, caseId: string | null): Promise<CaseRow> {
  const row = caseId === null ? undefined : await findCaseUnscoped(ctx.db, caseId)
  if (!row) throw notFound('case')
  return row
}
