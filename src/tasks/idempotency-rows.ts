import { prepareQuery } from '../store/prepared-query.ts'

export const deleteExpiredIdempotencyKey = prepareQuery<{ project_id: string; key: string; before: string }>(
  (db, arg) =>
    db
      .deleteFrom('idempotency_keys')
      .where('project_id', '=', arg('project_id'))
      .where('key', '=', arg('key'))
      .where('created_at', '<', arg('before'))
      .$castTo<never>(),
)

export const insertIdempotencyKey = prepareQuery<
  { project_id: string; key: string; body_hash: string; task_id: string; created_at: string },
  { task_id: string }
>((db, arg) =>
  db
    .insertInto('idempotency_keys')
    .values({
      project_id: arg('project_id'),
      key: arg('key'),
      body_hash: arg('body_hash'),
      task_id: arg('task_id'),
      created_at: arg('created_at'),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('task_id'),
)

export const findIdempotencyKey = prepareQuery<
  { project_id: string; key: string; since: string },
  { body_hash: string; task_id: string }
>((db, arg) =>
  db
    .selectFrom('idempotency_keys')
    .select(['body_hash', 'task_id'])
    .where('project_id', '=', arg('project_id'))
    .where('key', '=', arg('key'))
    .where('created_at', '>=', arg('since')),
)

export const deleteIdempotencyKeysBefore = prepareQuery<{ before: string }>((db, arg) =>
  db.deleteFrom('idempotency_keys').where('created_at', '<', arg('before')).$castTo<never>(),
)
