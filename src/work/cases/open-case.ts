import { z } from 'zod'
import { findMember, type Member } from '../../identity/organisations/member-rows.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { badRequest } from '../../platform/base/problem.ts'
import type { Wedge } from '../../platform/contract/wedge/wedge-manifest.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { publishProjectChange } from '../events/project-changes.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import type { CaseRow } from '../../platform/store/tables.ts'
import { requireClientExists } from '../tasks/require-client.ts'
import { requireWedge } from '../../wedges/library/enabled-wedges.ts'
import { findThreadClient, insertCase, insertCaseHistory } from './rows.ts'

export const CaseInput = z.object({
  wedge: z.string().min(1),
  title: z.string().max(500).nullish(),
  client_id: z.string().nullish(),
  thread_id: z.string().nullish(),
  assignee_id: z.string().nullish(),
  stage: z.string().optional(),
  data: jsonObject.optional(),
})

/** Opens a case at the requested stage, or at the wedge's initial stage. */
export async function openCase(ctx: Ctx, scope: ProjectScope, input: z.infer<typeof CaseInput>): Promise<CaseRow> {
  const wedge = await requireWedge(ctx, scope, input.wedge)
  const stage = input.stage ?? requireStages(wedge).initial
  checkCaseStage(wedge, stage)
  const asked = input.client_id ?? null
  if (asked !== null) await requireClientExists(ctx, scope.projectId, asked)
  const threadId = input.thread_id ?? null
  const clientId = threadId === null ? asked : await requireThreadClient(ctx, scope.projectId, threadId, asked)
  const assigneeId = input.assignee_id ?? null
  if (assigneeId !== null) await requireAssignee(ctx, scope, assigneeId)
  const now = isoNow(ctx)
  const row: CaseRow = {
    id: ctx.world.newId('case'),
    project_id: scope.projectId,
    wedge: wedge.slug,
    title: input.title ?? null,
    stage,
    status: 'open',
    client_id: clientId,
    thread_id: threadId,
    assignee_id: assigneeId,
    data: JSON.stringify(input.data ?? {}),
    created_at: now,
    updated_at: now,
    closed_at: null,
  }
  await inTx(ctx, async (tx) => {
    await insertCase(tx.db, row)
    const by = { by_kind: scope.actor.kind, by_id: scope.actor.id }
    await insertCaseHistory(tx.db, { case_id: row.id, from_stage: null, to_stage: stage, at: now, ...by, note: null })
    publishProjectChange(tx, row.project_id, { kind: 'case', id: row.id, status: row.status })
    await appendAuditEntry(tx, row.project_id, scope.actor, 'case.opened', row.id, { wedge: row.wedge, stage })
  })
  return row
}

/** 400 for an unknown stage. Every stage of the wedge can follow every other. */
export function checkCaseStage(wedge: Wedge, stage: string): void {
  const { stages } = requireStages(wedge)
  if (stages.includes(stage)) return
  throw badRequest(`unknown stage '${stage.slice(0, 100)}' of wedge '${wedge.slug}'; known are ${stages.join(', ')}`)
}

/** The client of the case about a thread. 400 for an unknown thread and for a thread of another client. */
export async function requireThreadClient(
  ctx: Ctx,
  projectId: string,
  threadId: string,
  clientId: string | null,
): Promise<string> {
  const owner = await findThreadClient(ctx.db, projectId, threadId)
  if (owner === undefined) throw badRequest(`unknown thread '${threadId.slice(0, 100)}'`)
  if (clientId !== null && clientId !== owner) throw badRequest('thread belongs to another client than the case')
  return owner
}

/** 400 for a member that the organisation does not have. */
export async function requireAssignee(ctx: Ctx, scope: ProjectScope, memberId: string): Promise<Member> {
  const member = await findMember(ctx.db, scope.orgId, memberId)
  if (!member) throw badRequest(`unknown member '${memberId.slice(0, 100)}'`)
  return member
}

function requireStages(wedge: Wedge) {
  const { cases } = wedge.manifest
  if (!cases) throw badRequest(`wedge '${wedge.slug}' has no cases`)
  return cases
}
