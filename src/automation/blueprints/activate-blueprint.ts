import { appendAuditEntry } from '../../audit/append.ts'
import { conflict } from '../../platform/base/problem.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import { lockSchedule, updateSchedule } from '../schedules/rows.ts'
import { nextRunAt } from '../schedules/schedules.ts'
import type { Blueprint } from './blueprint.ts'
import { checkReadiness, openReadinessItems } from './readiness.ts'
import { listSchedulesByName, updateInstallActive } from './rows.ts'

/** Activates a blueprint and enables its schedules. 409 with the missing items if the blueprint is not ready. */
export async function activateBlueprintInProject(ctx: Ctx, scope: ProjectScope, blueprint: Blueprint): Promise<void> {
  const { projectId, actor } = scope
  const missing = openReadinessItems(await checkReadiness(ctx, projectId, blueprint))
  if (missing.length > 0) throw notReady(missing)
  await inTx(ctx, async (tx) => {
    const at = isoNow(tx)
    if (!(await updateInstallActive(tx.db, projectId, blueprint.blueprint, at))) throw notReady([])
    const schedules = await enableSchedules(tx, projectId, blueprint)
    await appendAuditEntry(tx, projectId, actor, 'blueprint.activated', blueprint.blueprint, { schedules })
  })
}

const notReady = (missing: unknown[]) => conflict('blueprint is not ready', { missing })

/** Schedules that are already enabled keep their due times. */
async function enableSchedules(tx: Tx, projectId: string, { wedge, schedules }: Blueprint): Promise<string[]> {
  const now = tx.world.clock.now()
  const names = schedules.map(({ name }) => name)
  const enabled: string[] = []
  for (const { id } of (await listSchedulesByName(tx.db, projectId, wedge, names)).values()) {
    const row = await lockSchedule(tx.db, id)
    if (!row || row.enabled === 1) continue
    const on = { ...row, enabled: 1 as const, updated_at: toIsoTime(now) }
    await updateSchedule(tx.db, { ...on, next_run_at: nextRunAt(on, now) })
    enabled.push(row.name)
  }
  return enabled
}
