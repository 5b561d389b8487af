import type { PageQuery } from '../../platform/http/page.ts'
import { listNewestPage } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { EffectRow } from '../../platform/store/tables.ts'

/** Claims an effect: one of all concurrent callers inserts the row, and only that one may send. */
export const insertEffect = prepareQuery<
  Omit<EffectRow, 'outcome' | 'status' | 'error' | 'result' | 'finished_at'>,
  { id: string }
>((db, arg) =>
  db
    .insertInto('effects')
    .values({
      id: arg('id'),
      project_id: arg('project_id'),
      task_id: arg('task_id'),
      message_id: arg('message_id'),
      connection_id: arg('connection_id'),
      connection: arg('connection'),
      action: arg('action'),
      payload_sha256: arg('payload_sha256'),
      outcome: 'sent',
      replica: arg('replica'),
      created_at: arg('created_at'),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id'),
)

export const updateEffectOutcome = prepareQuery<
  Pick<EffectRow, 'id' | 'replica' | 'outcome' | 'status' | 'error' | 'result' | 'finished_at'>,
  { id: string }
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
    .where('id', '=', arg('id'))
    .where('replica', '=', arg('replica'))
    .where('outcome', '=', 'sent')
    .returning('id'),
)

/** Claims an effect for another attempt: one of all concurrent callers gets the row. */
export const updateEffectSentAgain = prepareQuery<
  Pick<EffectRow, 'id' | 'outcome' | 'finished_at' | 'replica'>,
  { id: string }
>((db, arg) =>
  db
    .updateTable('effects')
    .set({ outcome: 'sent', status: null, error: null, result: null, replica: arg('replica'), finished_at: null })
    .where('id', '=', arg('id'))
    .where('outcome', '=', arg('outcome'))
    .where('finished_at', '=', arg('finished_at'))
    .returning('id'),
)

/** An effect, if it was claimed. */
export const findEffect = prepareQuery<{ id: string }, EffectRow>((db, arg) =>
  db.selectFrom('effects').selectAll().where('id', '=', arg('id')),
)

export type OpenEffect = Pick<EffectRow, 'id' | 'project_id' | 'task_id' | 'message_id' | 'action'>

/** Effects that a replica has sent without a recorded outcome. */
export const listOpenEffects = prepareQuery<{ replica: string }, OpenEffect>((db, arg) =>
  db
    .selectFrom('effects')
    .select(['id', 'project_id', 'task_id', 'message_id', 'action'])
    .where('outcome', '=', 'sent')
    .where('replica', '=', arg('replica')),
)

export function listEffects(db: Db, taskId: string, page: PageQuery): Promise<EffectRow[]> {
  const query = db.selectFrom('effects').selectAll().where('task_id', '=', taskId)
  return listNewestPage(query, page, [], ['id'])
}

/** The actions of a task that were sent and failed. */
export const listFailedEffects = prepareQuery<{ task_id: string }, Pick<EffectRow, 'id'>>((db, arg) =>
  db.selectFrom('effects').select('id').where('task_id', '=', arg('task_id')).where('outcome', '=', 'failed'),
)

/** The effect of a task that sent a message. */
export const findEffectOfMessage = prepareQuery<{ task_id: string; message_id: string }, Pick<EffectRow, 'id'>>(
  (db, arg) =>
    db
      .selectFrom('effects')
      .select('id')
      .where('task_id', '=', arg('task_id'))
      .where('message_id', '=', arg('message_id')),
)
