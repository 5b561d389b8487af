import { lockProject } from '../accounts/project-rows.ts'
import { appendAuditEntry } from '../audit/append.ts'
import { createConnectionInTx } from '../connections/connections.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { createKnowledgeItem } from '../knowledge/items.ts'
import { findKnowledgeItemByName } from '../knowledge/rows.ts'
import { planSchedule } from '../schedules/schedules.ts'
import { insertSchedule } from '../schedules/rows.ts'
import type { Blueprint } from './blueprint.ts'
import { insertInstall, listSchedulesByName } from './rows.ts'

/** Names, by what they name. */
export interface BlueprintParts {
  connections: string[]
  schedules: string[]
  knowledge: string[]
}

/**
 * Makes what a blueprint needs and is not there: connections without secrets, schedules that are off, knowledge. All or
 * nothing, and nothing that exists is changed, so it can be done again at any time.
 */
export function provisionBlueprintInProject(
  ctx: Ctx,
  scope: ProjectScope,
  blueprint: Blueprint,
): Promise<{ created: BlueprintParts; reused: BlueprintParts }> {
  return inTx(ctx, async (tx) => {
    const { projectId } = scope
    // Before anything is looked for: of two blueprints that name something alike, the second finds what the first made.
    await lockProject(tx.db, projectId)
    const now = isoNow(tx)
    await insertInstall(tx.db, {
      project_id: projectId,
      blueprint: blueprint.blueprint,
      active: 0,
      created_at: now,
      activated_at: null,
    })
    const schedules = await provisionSchedules(tx, projectId, blueprint)
    const knowledge = await provisionKnowledge(tx, scope, blueprint)
    const connections = await provisionConnections(tx, scope, blueprint)
    const created = { connections: connections.made, schedules: schedules.made, knowledge: knowledge.made }
    await appendAuditEntry(tx, projectId, scope.actor, 'blueprint.provisioned', blueprint.blueprint, created)
    return { created, reused: { connections: connections.kept, schedules: schedules.kept, knowledge: knowledge.kept } }
  })
}

interface ProvisionedNames {
  made: string[]
  kept: string[]
}

async function provisionConnections(tx: Tx, scope: ProjectScope, blueprint: Blueprint): Promise<ProvisionedNames> {
  const sorted: ProvisionedNames = { made: [], kept: [] }
  for (const { name, kind, config } of blueprint.requires_connections) {
    const added = await createConnectionInTx(tx, scope, { name, kind, config })
    ;(added ? sorted.made : sorted.kept).push(name)
  }
  return sorted
}

async function provisionSchedules(tx: Tx, projectId: string, blueprint: Blueprint): Promise<ProvisionedNames> {
  const sorted: ProvisionedNames = { made: [], kept: [] }
  const { wedge, schedules } = blueprint
  const names = schedules.map(({ name }) => name)
  const known = await listSchedulesByName(tx.db, projectId, wedge, names)
  for (const schedule of schedules) {
    if (known.has(schedule.name)) sorted.kept.push(schedule.name)
    else {
      const row = planSchedule(tx, projectId, { ...schedule, wedge, enabled: false }, blueprint.blueprint)
      await insertSchedule(tx.db, row)
      sorted.made.push(schedule.name)
    }
  }
  return sorted
}

async function provisionKnowledge(tx: Tx, scope: ProjectScope, blueprint: Blueprint): Promise<ProvisionedNames> {
  const sorted: ProvisionedNames = { made: [], kept: [] }
  const { projectId, actor } = scope
  const { wedge, seed_knowledge } = blueprint
  for (const seed of seed_knowledge) {
    if (await findKnowledgeItemByName(tx.db, projectId, wedge, seed.name)) sorted.kept.push(seed.name)
    else {
      await createKnowledgeItem(tx, actor, { ...seed, projectId, wedge, source: `blueprint ${blueprint.blueprint}` })
      sorted.made.push(seed.name)
    }
  }
  return sorted
}
