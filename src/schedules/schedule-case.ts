import { badRequest } from '../base/problem.ts'
import { findCase } from '../cases/rows.ts'
import type { Db } from '../store/store.ts'
import type { CaseRow, ScheduleRow } from '../store/tables.ts'

/**
 * The case that a schedule works on, if any. Agents of its tasks read the case and its client reads what they answer, so
 * both must be of one client. Judged when it is asked for, and again when it fires.
 */
export async function requireScheduleCase(
  db: Db,
  schedule: Pick<ScheduleRow, 'project_id' | 'wedge' | 'client_id' | 'case_id'>,
): Promise<CaseRow | null> {
  const { project_id, wedge, client_id, case_id } = schedule
  if (case_id === null) return null
  const found = await findCase(db, [project_id], case_id)
  if (!found) throw badRequest(`unknown case '${case_id.slice(0, 100)}'`)
  if (found.wedge !== wedge) throw badRequest(`case is of wedge '${found.wedge}'`)
  if (client_id !== null && client_id !== found.client_id) {
    throw badRequest('case is not of the client of the schedule')
  }
  return found
}
