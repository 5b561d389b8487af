import { excluded, prepareQuery } from '../../platform/store/prepared-query.ts'
import type { RunStateRow } from '../../platform/store/tables.ts'

/** Stores the state of a run. What it began with stays as it is: two requests of one run may be the first to store it. */
export const upsertRunState = prepareQuery<RunStateRow>((db, arg) =>
  db
    .insertInto('run_states')
    .values({
      task_id: arg('task_id'),
      is_resumable: arg('is_resumable'),
      brief: arg('brief'),
      checkpoint: arg('checkpoint'),
      requests: arg('requests'),
      spent_micros: arg('spent_micros'),
      read_count: arg('read_count'),
      gap_count: arg('gap_count'),
      stored_bytes: arg('stored_bytes'),
      worked_ms: arg('worked_ms'),
      resumes: arg('resumes'),
    })
    .onConflict((conflict) =>
      conflict.column('task_id').doUpdateSet({
        checkpoint: excluded('checkpoint'),
        requests: excluded('requests'),
        spent_micros: excluded('spent_micros'),
        read_count: excluded('read_count'),
        gap_count: excluded('gap_count'),
        stored_bytes: excluded('stored_bytes'),
        worked_ms: excluded('worked_ms'),
        resumes: excluded('resumes'),
      }),
    )
    .$castTo<never>(),
)

/** Counts a resume. A run that makes progress stores its state again and so sets the number to 0. */
export const countResume = prepareQuery<{ task_id: string }>((db, arg) =>
  db
    .updateTable('run_states')
    .set((eb) => ({ resumes: eb('resumes', '+', 1) }))
    .where('task_id', '=', arg('task_id'))
    .$castTo<never>(),
)

export const findRunState = prepareQuery<{ task_id: string }, RunStateRow>((db, arg) =>
  db.selectFrom('run_states').selectAll().where('task_id', '=', arg('task_id')),
)

export const deleteRunState = prepareQuery<{ task_id: string }>((db, arg) =>
  db.deleteFrom('run_states').where('task_id', '=', arg('task_id')).$castTo<never>(),
)
