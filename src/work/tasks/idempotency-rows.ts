import { excluded, prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'

/** Returns nothing if the key was bound since `since`. An older key is bound again. */
export const insertIdempotencyKey = prepareQuery<
  { project_id: string; key: string; body_hash: string; task_id: string; created_at: string; since: string },
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
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'key'])
        .doUpdateSet({
          body_hash: excluded('body_hash'),
          task_id: excluded('task_id'),
          created_at: excluded('created_at'),
        })
        .where('idempotency_keys.created_at', '<', arg('since')),
    )
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

/** Deletes some of the old keys and returns how many it deleted. */
export async function deleteIdempotencyKeysBefore(db: Db, before: string, limit: number): Promise<number> {
  const old = db
    .selectFrom('idempotency_keys')
    .select(['project_id', 'key'])
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(limit)
  const query = db
    .deleteFrom('idempotency_keys')
    .where((row) => row(row.refTuple('project_id', 'key'), 'in', old.$asTuple('project_id', 'key')))
  return (await query.returning('key').execute()).length
}
