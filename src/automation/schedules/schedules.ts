import { z } from 'zod'
import { appendAuditEntry } from '../../audit/append.ts'
import { notFound } from '../../platform/base/problem.ts'
import { requireClientExists } from '../../work/tasks/require-client.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import { jsonValue } from '../../platform/http/validate.ts'
import type { ScheduleRow } from '../../platform/store/tables.ts'
import { requireValidInput } from '../../work/tasks/create-task.ts'
import { requireLoadedWedge } from '../../wedges/library/enabled-wedges.ts'
import { requireTaskType } from '../../wedges/library/task-type.ts'
import { Cadence, nextRunTime } from '../../platform/base/cadence.ts'
import { insertSchedule, lockSchedule, updateSchedule } from './rows.ts'
import { requireScheduleCase } from './schedule-case.ts'
import { parseCadence, parseScheduleInput } from './view.ts'

export const ScheduleInput = z.object({
  name: z.string().min(1).max(200),
  wedge: z.string().min(1),
  task_type: z.string().min(1),
  cadence: Cadence,
  input: jsonValue.optional(),
  enabled: z.boolean().optional(),
  client_id: z.string().nullish(),
  case_id: z.string().nullish(),
})
export type ScheduleInput = z.infer<typeof ScheduleInput>

/** A field that is left out keeps its value. */
export const ScheduleChange = ScheduleInput.partial()
export type ScheduleChange = z.infer<typeof ScheduleChange>

export async function createSchedule(ctx: Ctx, scope: ProjectScope, input: ScheduleInput): Promise<ScheduleRow> {
  const row = planSchedule(ctx, scope.projectId, input)
  await loadWedge(ctx, row.wedge)
  await inTx(ctx, async (tx) => {
    await validateSchedule(tx, row, null)
    await insertSchedule(tx.db, row)
    const { name, wedge, task_type } = row
    await appendAuditEntry(tx, row.project_id, scope.actor, 'schedule.created', row.id, { name, wedge, task_type })
  })
  return row
}

/** The row of a new schedule. The due times of `every` count from now. */
export function planSchedule(
  ctx: Ctx,
  projectId: string,
  input: ScheduleInput,
  blueprint: string | null = null,
): ScheduleRow {
  const now = ctx.world.clock.now()
  const row: ScheduleRow = {
    id: ctx.world.newId('sch'),
    project_id: projectId,
    name: input.name,
    wedge: input.wedge,
    task_type: input.task_type,
    cadence: JSON.stringify(input.cadence),
    input: JSON.stringify(input.input ?? null),
    enabled: input.enabled === false ? 0 : 1,
    client_id: input.client_id ?? null,
    case_id: input.case_id ?? null,
    blueprint,
    anchor_at: toIsoTime(now),
    next_run_at: null,
    last_run_at: null,
    last_task_id: null,
    last_error: null,
    created_at: toIsoTime(now),
    updated_at: toIsoTime(now),
  }
  return { ...row, next_run_at: nextRunAt(row, now) }
}

/** Changes a schedule. A new cadence counts from now. Due times that passed while it was disabled do not fire later. */
export async function changeSchedule(
  ctx: Ctx,
  scope: ProjectScope,
  found: ScheduleRow,
  change: ScheduleChange,
): Promise<ScheduleRow> {
  await loadWedge(ctx, change.wedge ?? found.wedge)
  return inTx(ctx, async (tx) => {
    const before = await lockSchedule(tx.db, found.id)
    if (!before) throw notFound('schedule')
    const row = applyScheduleChange(tx, before, change)
    await validateSchedule(tx, row, before)
    await updateSchedule(tx.db, row)
    const fields = Object.keys(change)
    await appendAuditEntry(tx, row.project_id, scope.actor, 'schedule.updated', row.id, {
      fields,
      enabled: row.enabled === 1,
    })
    return row
  })
}

function applyScheduleChange(ctx: Ctx, before: ScheduleRow, change: ScheduleChange): ScheduleRow {
  const now = ctx.world.clock.now()
  const { name = before.name, wedge = before.wedge, task_type = before.task_type } = change
  const { client_id = before.client_id, case_id = before.case_id } = change
  const cadence = change.cadence ? JSON.stringify(change.cadence) : before.cadence
  const input = change.input === undefined ? before.input : JSON.stringify(change.input)
  const enabled = change.enabled === undefined ? before.enabled : change.enabled ? 1 : 0
  const anchor_at = cadence === before.cadence ? before.anchor_at : toIsoTime(now)
  const fields = { name, wedge, task_type, client_id, case_id, cadence, input, enabled, anchor_at } as const
  const row: ScheduleRow = { ...before, ...fields, updated_at: toIsoTime(now) }
  const sameTimes = cadence === before.cadence && enabled === before.enabled
  return { ...row, next_run_at: sameTimes ? before.next_run_at : nextRunAt(row, now) }
}

/** Loads a wedge that was just added to the folder. Done before the transaction, which must not wait for files. */
async function loadWedge(ctx: Ctx, wedge: string): Promise<void> {
  await ctx.wedges.find(wedge)
}

/**
 * 400 for an unknown wedge, task type, client or case, and for an input that does not match the schema of the task type;
 * 403 for a disabled wedge. The same is checked again when the schedule fires. It runs under the lock, because two
 * concurrent changes can be valid alone and invalid together. Only changed fields are checked unless the schedule gets
 * enabled, so that an invalid schedule can still be disabled.
 */
async function validateSchedule(tx: Tx, row: ScheduleRow, before: ScheduleRow | null): Promise<void> {
  const unchecked = before && row.enabled <= before.enabled ? before : null
  if (differs(row, unchecked, ['wedge', 'task_type', 'input'])) {
    const wedge = await requireLoadedWedge(tx, { projectId: row.project_id }, row.wedge)
    requireValidInput(requireTaskType(wedge, row.task_type), parseScheduleInput(row))
  }
  if (row.client_id !== null && differs(row, unchecked, ['client_id'])) {
    await requireClientExists(tx, row.project_id, row.client_id)
  }
  if (differs(row, unchecked, ['wedge', 'client_id', 'case_id'])) await requireScheduleCase(tx.db, row)
}

function differs(row: ScheduleRow, before: ScheduleRow | null, fields: (keyof ScheduleRow)[]): boolean {
  return before === null || fields.some((field) => row[field] !== before[field])
}

/** The next due time after a moment; null while the schedule is disabled. */
export function nextRunAt(row: Pick<ScheduleRow, 'cadence' | 'anchor_at' | 'enabled'>, after: number): string | null {
  return row.enabled === 1 ? toIsoTime(nextRunTime(parseCadence(row), after, Date.parse(row.anchor_at))) : null
}
