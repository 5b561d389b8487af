import { lockProject } from '../../identity/organisations/project-rows.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { createConnectionInTx, type NewConnection } from '../../connections/setup/connections.ts'
import { applyPreset } from '../../connections/presets/apply-preset.ts'
import { requirePreset } from '../../connections/presets/read-presets.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { createKnowledgeItem } from '../../wedges/knowledge/items.ts'
import { findKnowledgeItemByName } from '../../wedges/knowledge/rows.ts'
import { insertSchedule } from '../schedules/rows.ts'
import { planSchedule } from '../schedules/schedules.ts'
import type { Blueprint } from './blueprint.ts'
import { insertInstall, listSchedulesByName } from './rows.ts'

/** The names of what was created or reused. */
export interface BlueprintParts {
  connections: string[]
  schedules: string[]
  knowledge: string[]
}

/**
 * Creates what a blueprint needs and does not exist yet: connections without secrets, disabled schedules, knowledge. It
 * changes nothing that exists and runs in one transaction, so it can be repeated at any time.
 */
export async function provisionBlueprintInProject(
  ctx: Ctx,
  scope: ProjectScope,
  blueprint: Blueprint,
): Promise<{ created: BlueprintParts; reused: BlueprintParts }> {
  // Presets are files, and a transaction waits for nothing but the database.
  const required = await Promise.all(blueprint.requires_connections.map(withPreset))
  return inTx(ctx, async (tx) => {
    const { projectId } = scope
    // The lock comes first: if two blueprints use the same name, the second finds what the first has created.
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
    const connections = await provisionConnections(tx, scope, required)
    const created = { connections: connections.created, schedules: schedules.created, knowledge: knowledge.created }
    await appendAuditEntry(tx, projectId, scope.actor, 'blueprint.provisioned', blueprint.blueprint, created)
    return {
      created,
      reused: { connections: connections.reused, schedules: schedules.reused, knowledge: knowledge.reused },
    }
  })
}

interface ProvisionedNames {
  created: string[]
  reused: string[]
}

type RequiredConnection = Blueprint['requires_connections'][number]

async function withPreset({ preset, config = {}, ...rest }: RequiredConnection): Promise<NewConnection> {
  if (preset === undefined) return { ...rest, config }
  return { ...rest, config: applyPreset(await requirePreset(preset), { params: {}, config }) }
}

async function provisionConnections(tx: Tx, scope: ProjectScope, required: NewConnection[]): Promise<ProvisionedNames> {
  const result: ProvisionedNames = { created: [], reused: [] }
  for (const connection of required) {
    const added = await createConnectionInTx(tx, scope, connection)
    ;(added ? result.created : result.reused).push(connection.name)
  }
  return result
}

async function provisionSchedules(tx: Tx, projectId: string, blueprint: Blueprint): Promise<ProvisionedNames> {
  const result: ProvisionedNames = { created: [], reused: [] }
  const { wedge, schedules } = blueprint
  const names = schedules.map(({ name }) => name)
  const known = await listSchedulesByName(tx.db, projectId, wedge, names)
  for (const schedule of schedules) {
    if (known.has(schedule.name)) result.reused.push(schedule.name)
    else {
      const row = planSchedule(tx, projectId, { ...schedule, wedge, enabled: false }, blueprint.blueprint)
      await insertSchedule(tx.db, row)
      result.created.push(schedule.name)
    }
  }
  return result
}

async function provisionKnowledge(tx: Tx, scope: ProjectScope, blueprint: Blueprint): Promise<ProvisionedNames> {
  const result: ProvisionedNames = { created: [], reused: [] }
  const { projectId, actor } = scope
  const { wedge, seed_knowledge } = blueprint
  for (const seed of seed_knowledge) {
    if (await findKnowledgeItemByName(tx.db, projectId, wedge, seed.name)) result.reused.push(seed.name)
    else {
      await createKnowledgeItem(tx, actor, { ...seed, projectId, wedge, source: `blueprint ${blueprint.blueprint}` })
      result.created.push(seed.name)
    }
  }
  return result
}
