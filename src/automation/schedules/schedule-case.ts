import { badRequest } from '../../platform/base/problem.ts'
import { findCase } from '../../work/cases/rows.ts'
import type { Db } from '../../platform/store/store.ts'
import type { CaseRow, ScheduleRow } from '../../platform/store/tables.ts'

/**
 * The case of a schedule, if it has one. The agents of its tasks read the case and the client reads their replies, so the
 * case must belong to the client of the schedule. Checked when the schedule is saved and every time it fires.
 */
export async function requireScheduleCase(
  db: Db,
  schedule: Pick<ScheduleRow, 'project_id' | 'wedge' | 'client_id' | 'case_id'>,
): Promise<CaseRow | null> {
  const { project_id, wedge, client_id, case_id } = schedule
  if (case_id === null) return null
  const found = await findCase(db, [project_id], case_id)
  if (!found) throw badRequest(`unknown case '${case_id.slice(0, 100)}'`)
  if (found.wedge !== wedge) throw badRequest(`case belongs to wedge '${found.wedge}', not '${wedge}'`)
  if (client_id !== null && client_id !== found.client_id) {
    throw badRequest('case does not belong to the client of the schedule')
  }
  return found
}
