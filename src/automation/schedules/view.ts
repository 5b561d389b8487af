import { z } from 'zod'
import type { Json } from '../../platform/base/json.ts'
import { jsonValue } from '../../platform/http/validate.ts'
import type { ScheduleRow } from '../../platform/store/tables.ts'
import { Cadence } from '../../platform/base/cadence.ts'

export const ScheduleView = z
  .object({
    id: z.string(),
    project_id: z.string(),
    name: z.string(),
    wedge: z.string(),
    task_type: z.string(),
    cadence: Cadence,
    input: jsonValue,
    enabled: z.boolean(),
    client_id: z.string().nullable(),
    case_id: z.string().nullable(),
    next_run_at: z.string().nullable(),
    last_run_at: z.string().nullable(),
    last_task_id: z.string().nullable(),
    last_error: z.string().nullable().meta({ description: 'Why the last due time started no task.' }),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Schedule' })

export const parseCadence = (row: Pick<ScheduleRow, 'cadence'>): Cadence => JSON.parse(row.cadence) as Cadence
export const parseScheduleInput = (row: Pick<ScheduleRow, 'input'>): Json => JSON.parse(row.input) as Json

export function toScheduleView(row: ScheduleRow) {
  return {
    id: row.id,
    project_id: row.project_id,
    name: row.name,
    wedge: row.wedge,
    task_type: row.task_type,
    cadence: parseCadence(row),
    input: parseScheduleInput(row),
    enabled: row.enabled === 1,
    client_id: row.client_id,
    case_id: row.case_id,
    next_run_at: row.next_run_at,
    last_run_at: row.last_run_at,
    last_task_id: row.last_task_id,
    last_error: row.last_error,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}
