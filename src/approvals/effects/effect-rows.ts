import type { PageQuery } from '../../platform/http/page.ts'
import { listNewestPage } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { EffectRow } from '../../platform/store/tables.ts'

/** Claims the effect of an approval: one of all concurrent callers inserts the row, and only that one may send. */
export const insertEffect = prepareQuery<
  Omit<EffectRow, 'outcome' | 'status' | 'error' | 'result' | 'finished_at'>,
  { approval_id: string }
>((db, arg) =>
  db
    .insertInto('effects')
    .values({
      approval_id: arg('approval_id'),
      project_id: arg('project_id'),
      task_id: arg('task_id'),
      connection_id: arg('connection_id'),
      connection: arg('connection'),
      action: arg('action'),
      payload_sha256: arg('payload_sha256'),
      outcome: 'sent',
      replica: arg('replica'),
      created_at: arg('created_at'),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('approval_id'),
)

export const updateEffectOutcome = prepareQuery<
  Pick<EffectRow, 'approval_id' | 'replica' | 'outcome' | 'status' | 'error' | 'result' | 'finished_at'>,
  { approval_id: string }
>((db, arg) =>
  db
    .updateTable('effects')
    .set({
      outcome: arg('outcome'),
      status: arg('status'),
      error: arg('error'),
      result: arg('result'),
      finished_at: arg('finished_at'),
    })
    .where('approval_id', '=', arg('approval_id'))
    .where('replica', '=', arg('replica'))
    .where('outcome', '=', 'sent')
    .returning('approval_id'),
)

/** Claims an effect for another attempt: one of all concurrent callers gets the row. */
export const updateEffectSentAgain = prepareQuery<
  Pick<EffectRow, 'approval_id' | 'outcome' | 'finished_at' | 'replica'>,
  { approval_id: string }
>((db, arg) =>
  db
    .updateTable('effects')
    .set({ outcome: 'sent', status: null, error: null, result: null, replica: arg('replica'), finished_at: null })
    .where('approval_id', '=', arg('approval_id'))
    .where('outcome', '=', arg('outcome'))
    .where('finished_at', '=', arg('finished_at'))
    .returning('approval_id'),
)

/** The effect of an approval, if it was claimed. */
export const findEffect = prepareQuery<{ approval_id: string }, EffectRow>((db, arg) =>
  db.selectFrom('effects').selectAll().where('approval_id', '=', arg('approval_id')),
)

export type OpenEffect = Pick<EffectRow, 'approval_id' | 'project_id' | 'task_id' | 'action'>

/** Effects that a replica has sent without a recorded outcome. */
export const listOpenEffects = prepareQuery<{ replica: string }, OpenEffect>((db, arg) =>
  db
    .selectFrom('effects')
    .select(['approval_id', 'project_id', 'task_id', 'action'])
    .where('outcome', '=', 'sent')
    .where('replica', '=', arg('replica')),
)

export function listEffects(db: Db, taskId: string, page: PageQuery): Promise<EffectRow[]> {
  const query = db.selectFrom('effects').selectAll().where('task_id', '=', taskId)
  return listNewestPage(db, query, page, [], ['approval_id'])
}

/** The actions of a task that were sent and failed. */
export const listFailedEffects = prepareQuery<{ task_id: string }, Pick<EffectRow, 'approval_id'>>((db, arg) =>
  db.selectFrom('effects').select('approval_id').where('task_id', '=', arg('task_id')).where('outcome', '=', 'failed'),
)
