import { sql } from 'kysely'
import { prepareQuery } from '../../platform/store/prepared-query.ts'

/**
 * Notes a new task or approval for the reports if their rollup has already passed its id, as after a pause between the
 * creation of the id and the commit. The transaction must hold the lock on the head of the project's audit chain, which
 * the rollup takes before it moves its mark.
 */
export const insertReportRowIfLate = prepareQuery<{ project_id: string; source: 'tasks' | 'approvals'; id: string }>(
  (db, arg) =>
    db
      .insertInto('report_open')
      .columns(['project_id', 'source', 'id'])
      .expression((eb) =>
        eb
          .selectFrom('report_marks')
          .select(['project_id', 'source', sql<string>`cast(${arg('id')} as text)`.as('id')])
          .where('project_id', '=', arg('project_id'))
          .where('source', '=', arg('source'))
          .where('folded_to', '>=', arg('id')),
      )
      .$castTo<never>(),
)
