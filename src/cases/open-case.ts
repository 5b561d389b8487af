import { z } from 'zod'
import { appendAuditEntry } from '../audit/append.ts'
import { badRequest } from '../base/problem.ts'
import { isClientOfProject } from '../connections/rows.ts'
import type { Wedge } from '../contract/wedge-manifest.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { notifyProjectChange } from '../events/project-changes.ts'
import { jsonObject } from '../http/validate.ts'
import type { CaseRow } from '../store/tables.ts'
import { requireWedge } from '../wedges/enabled-wedges.ts'
import { insertCase, insertCaseHistory } from './rows.ts'

export const CaseInput = z.object({
  wedge: z.string().min(1),
  title: z.string().max(500).nullish(),
  client_id: z.string().nullish(),
  stage: z.string().optional(),
  data: jsonObject.optional(),
})

/** Opens a case at the requested stage, or at the wedge's initial stage. */
export async function openCase(ctx: Ctx, scope: ProjectScope, input: z.infer<typeof CaseInput>): Promise<CaseRow> {
  const wedge = await requireWedge(ctx, scope, input.wedge)
  const stage = input.stage ?? requireStages(wedge).initial
  checkCaseStage(wedge, stage)
  const clientId = input.client_id ?? null
  if (clientId !== null) await requireClientExists(ctx, scope.projectId, clientId)
  const now = isoNow(ctx)
  const row: CaseRow = {
    id: ctx.world.newId('case'),
    project_id: scope.projectId,
    wedge: wedge.slug,
    title: input.title ?? null,
    stage,
    status: 'open',
    client_id: clientId,
    data: JSON.stringify(input.data ?? {}),
    created_at: now,
    updated_at: now,
    closed_at: null,
  }
  await inTx(ctx, async (tx) => {
    await insertCase(tx.db, row)
    const by = { by_kind: scope.actor.kind, by_id: scope.actor.id }
    await insertCaseHistory(tx.db, { case_id: row.id, from_stage: null, to_stage: stage, at: now, ...by, note: null })
    notifyProjectChange(tx, row.project_id, { kind: 'case', id: row.id, status: row.status })
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

/** 400 for a client that does not exist in the project. */
export async function requireClientExists(ctx: Ctx, projectId: string, clientId: string): Promise<void> {
  if (!(await isClientOfProject(ctx.db, projectId, clientId)))
    throw badRequest(`unknown client '${clientId.slice(0, 100)}'`)
}

function requireStages(wedge: Wedge) {
  const { cases } = wedge.manifest
  if (!cases) throw badRequest(`wedge '${wedge.slug}' has no cases`)
  return cases
}
