import { z } from 'zod'
import { audit } from '../audit/append.ts'
import { badRequest, conflict, notFound } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { changed } from '../events/changes.ts'
import { jsonObject } from '../http/judge.ts'
import type { Cases } from '../store/tables.ts'
import { CASE_STATUSES } from './record.ts'
import { checkStage } from './open.ts'
import { addHistory, lockCase, setCase } from './rows.ts'

/** What is left out stays. */
export const CaseChange = z.object({
  title: z.string().max(500).nullable().optional(),
  stage: z.string().optional(),
  data: jsonObject.optional(),
  status: z.enum(CASE_STATUSES).optional(),
  note: z.string().max(10_000).optional(),
})
export type CaseChange = z.infer<typeof CaseChange>

/** Changes a case. A move, a closing, a reopening and a note each leave an entry in its history. */
export async function changeCase(ctx: Ctx, found: Cases, change: CaseChange, actor: Actor): Promise<Cases> {
  if (change.stage !== undefined && change.stage !== found.stage) await checkStageOf(ctx, found, change.stage)
  return inTx(ctx, async (tx) => {
    const before = await lockCase(tx.db, found.id)
    if (!before) throw notFound('case')
    // What the founder has closed, no agent moves any more.
    if (actor.kind === 'task' && before.status === 'closed') throw conflict('case is closed')
    return apply(tx, before, change, actor)
  })
}

async function apply(tx: Tx, before: Cases, change: CaseChange, actor: Actor): Promise<Cases> {
  const now = isoNow(tx)
  const { title = before.title, stage = before.stage, status = before.status } = change
  const data = change.data ? JSON.stringify(change.data) : before.data
  const state = { title, stage, status, data, updated_at: now, closed_at: closedAt(before, status, now) }
  await setCase(tx.db, before.id, state)
  const note = change.note ?? turn(before.status, status)
  if (stage !== before.stage || note !== null) {
    const by = { by_kind: actor.kind, by_id: actor.id }
    const entry = { case_id: before.id, from_stage: before.stage, to_stage: stage, at: now, ...by, note }
    await addHistory(tx.db, entry)
  }
  changed(tx, before.project_id, { kind: 'case', id: before.id, status })
  const action = status === before.status ? 'case.updated' : `case.${turn(before.status, status)}`
  await audit(tx, before.project_id, actor, action, before.id, { from: before.stage, to: stage, status })
  return { ...before, ...state }
}

function closedAt(before: Cases, status: string, now: string): string | null {
  if (status === 'open') return null
  return before.status === 'closed' ? before.closed_at : now
}

function turn(before: string, status: string): 'closed' | 'reopened' | null {
  if (before === status) return null
  return status === 'closed' ? 'closed' : 'reopened'
}

/** The wedge need not be enabled any more: what was begun can be brought to an end. */
async function checkStageOf(ctx: Ctx, row: Cases, stage: string): Promise<void> {
  const wedge = await ctx.wedges.find(row.wedge)
  if (!wedge) throw badRequest(`unknown wedge '${row.wedge}'`)
  checkStage(wedge, stage)
}
