import { z } from 'zod'
import { appendAuditEntry } from '../../audit/append.ts'
import { badRequest, conflict, notFound } from '../../platform/base/problem.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { Actor, ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { publishProjectChange } from '../events/project-changes.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import type { CaseRow } from '../../platform/store/tables.ts'
import { checkCaseStage, requireAssignee, requireThreadClient } from './open-case.ts'
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

/** What a founder can change. An agent can neither assign a case nor link it to a conversation. */
export const CaseUpdate = CaseChange.extend({
  assignee_id: z.string().nullable().optional(),
  thread_id: z.string().nullable().optional(),
})

export async function changeCaseByFounder(
  ctx: Ctx,
  scope: ProjectScope,
  found: CaseRow,
  { assignee_id, thread_id, ...change }: z.infer<typeof CaseUpdate>,
): Promise<CaseRow> {
  const links: CaseLinks = {}
  if (assignee_id !== undefined && assignee_id !== found.assignee_id) {
    const member = assignee_id === null ? null : await requireAssignee(ctx, scope, assignee_id)
    Object.assign(links, { assignee_id, note: member ? `assigned to ${member.name || member.email}` : 'unassigned' })
  }
  if (thread_id === null) links.thread_id = null
  else if (thread_id !== undefined) {
    const client_id = await requireThreadClient(ctx, found.project_id, thread_id, found.client_id)
    Object.assign(links, { thread_id, client_id })
  }
  return changeCase(ctx, found, change, scope.actor, links)
}

/** The links of a case that change; `note` describes them in the history. */
type CaseLinks = Partial<Pick<CaseRow, 'assignee_id' | 'thread_id' | 'client_id'>> & { note?: string }

/** Changes a case. A new stage, a new assignee, a close, a reopen and a note each add an entry to its history. */
export async function changeCase(
  ctx: Ctx,
  found: CaseRow,
  change: CaseChange,
  actor: Actor,
  links: CaseLinks = {},
): Promise<CaseRow> {
  if (change.stage !== undefined && change.stage !== found.stage) await checkStageOfCase(ctx, found, change.stage)
  return inTx(ctx, async (tx) => {
    const before = await lockCase(tx.db, found.id)
    if (!before) throw notFound('case')
    // Only founders can change a closed case.
    if (actor.kind === 'task' && before.status === 'closed') throw conflict('case is closed')
    return writeCaseChange(tx, before, change, actor, links)
  })
}

async function writeCaseChange(
  tx: Tx,
  before: CaseRow,
  change: CaseChange,
  actor: Actor,
  { note: linkNote, ...links }: CaseLinks,
): Promise<CaseRow> {
  const now = isoNow(tx)
  const { title = before.title, stage = before.stage, status = before.status } = change
  const { client_id, thread_id, assignee_id } = { ...before, ...links }
  const data = change.data ? JSON.stringify(change.data) : before.data
  const fields = { title, stage, status, client_id, thread_id, assignee_id, data }
  const state = { ...fields, updated_at: now, closed_at: closedAt(before, status, now) }
  await updateCase(tx.db, before.id, state)
  const note = change.note ?? statusChange(before.status, status) ?? linkNote ?? null
  if (stage !== before.stage || note !== null) {
    const by = { by_kind: actor.kind, by_id: actor.id }
    const entry = { case_id: before.id, from_stage: before.stage, to_stage: stage, at: now, ...by, note }
    await insertCaseHistory(tx.db, entry)
  }
  publishProjectChange(tx, before.project_id, { kind: 'case', id: before.id, status })
  const action = status === before.status ? 'case.updated' : `case.${statusChange(before.status, status)}`
  const changed = { from: before.stage, to: stage, status, ...links }
  await appendAuditEntry(tx, before.project_id, actor, action, before.id, changed)
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
