import { z } from 'zod'
import { appendAuditEntry } from '../audit/append.ts'
import { badRequest, conflict, notFound } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { notifyProjectChange } from '../events/project-changes.ts'
import { jsonObject } from '../http/validate.ts'
import type { CaseRow } from '../store/tables.ts'
import { checkCaseStage } from './open-case.ts'
import { insertCaseHistory, lockCase, updateCase } from './rows.ts'
import { CASE_STATUSES } from './view.ts'

/** A field that is left out keeps its value. */
export const CaseChange = z.object({
  title: z.string().max(500).nullable().optional(),
  stage: z.string().optional(),
  data: jsonObject.optional(),
  status: z.enum(CASE_STATUSES).optional(),
  note: z.string().max(10_000).optional(),
})
export type CaseChange = z.infer<typeof CaseChange>

/** Changes a case. A new stage, a close, a reopen and a note each add an entry to its history. */
export async function changeCase(ctx: Ctx, found: CaseRow, change: CaseChange, actor: Actor): Promise<CaseRow> {
  if (change.stage !== undefined && change.stage !== found.stage) await checkStageOfCase(ctx, found, change.stage)
  return inTx(ctx, async (tx) => {
    const before = await lockCase(tx.db, found.id)
    if (!before) throw notFound('case')
    // Only founders can change a closed case.
    if (actor.kind === 'task' && before.status === 'closed') throw conflict('case is closed')
    return writeCaseChange(tx, before, change, actor)
  })
}

async function writeCaseChange(tx: Tx, before: CaseRow, change: CaseChange, actor: Actor): Promise<CaseRow> {
  const now = isoNow(tx)
  const { title = before.title, stage = before.stage, status = before.status } = change
  const data = change.data ? JSON.stringify(change.data) : before.data
  const state = { title, stage, status, data, updated_at: now, closed_at: closedAt(before, status, now) }
  await updateCase(tx.db, before.id, state)
  const note = change.note ?? statusChange(before.status, status)
  if (stage !== before.stage || note !== null) {
    const by = { by_kind: actor.kind, by_id: actor.id }
    const entry = { case_id: before.id, from_stage: before.stage, to_stage: stage, at: now, ...by, note }
    await insertCaseHistory(tx.db, entry)
  }
  notifyProjectChange(tx, before.project_id, { kind: 'case', id: before.id, status })
  const action = status === before.status ? 'case.updated' : `case.${statusChange(before.status, status)}`
  await appendAuditEntry(tx, before.project_id, actor, action, before.id, { from: before.stage, to: stage, status })
  return { ...before, ...state }
}

function closedAt(before: CaseRow, status: string, now: string): string | null {
  if (status === 'open') return null
  return before.status === 'closed' ? before.closed_at : now
}

function statusChange(before: string, status: string): 'closed' | 'reopened' | null {
  if (before === status) return null
  return status === 'closed' ? 'closed' : 'reopened'
}

/** A disabled wedge is accepted here, so that its open cases can still be finished. */
async function checkStageOfCase(ctx: Ctx, row: CaseRow, stage: string): Promise<void> {
  const wedge = await ctx.wedges.find(row.wedge)
  if (!wedge) throw badRequest(`unknown wedge '${row.wedge}'`)
  checkCaseStage(wedge, stage)
}
