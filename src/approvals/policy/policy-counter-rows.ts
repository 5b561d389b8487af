import { sql } from 'kysely'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'

const findPolicyCounter = prepareQuery<{ project_id: string; rule: string; span: string }, { used: number }>(
  (db, arg) =>
    db
      .selectFrom('policy_counters')
      .select('used')
      .where('project_id', '=', arg('project_id'))
      .where('rule', '=', arg('rule'))
      .where('span', '=', arg('span')),
)

export async function countPolicyUses(db: Db, project_id: string, rule: string, span: string): Promise<number> {
  return (await findPolicyCounter(db, { project_id, rule, span }))[0]?.used ?? 0
}

/** Counts one more use unless the cap is reached. The row decides, so the cap is exact over all replicas. */
export const upsertPolicyUse = prepareQuery<
  { project_id: string; rule: string; span: string; cap: number },
  { used: number }
>((db, arg) =>
  db
    .insertInto('policy_counters')
    .values({ project_id: arg('project_id'), rule: arg('rule'), span: arg('span'), used: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'rule', 'span'])
        .doUpdateSet((eb) => ({ used: eb('policy_counters.used', '+', 1) }))
        .where('policy_counters.used', '<', arg('cap')),
    )
    .returning('used'),
)

/** Takes a use back because another cap of the same rule is reached. */
export const undoPolicyUse = prepareQuery<{ project_id: string; rule: string; span: string }>((db, arg) =>
  db
    .updateTable('policy_counters')
    .set((eb) => ({ used: eb('used', '-', 1) }))
    .where('project_id', '=', arg('project_id'))
    .where('rule', '=', arg('rule'))
    .where('span', '=', arg('span'))
    .$castTo<never>(),
)

/** Deletes the counters of earlier days and of finished tasks: caps count per day and per task only. */
export async function deleteOldPolicyCounters(db: Db, beforeDay: string): Promise<void> {
  await db.deleteFrom('policy_counters').where('span', 'like', 'day:%').where('span', '<', `day:${beforeDay}`).execute()
  await db
    .deleteFrom('policy_counters')
    .where('span', 'like', 'task:%')
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('tasks')
          .select('tasks.id')
          .where('tasks.id', '=', sql<string>`substr(policy_counters.span, 6)`)
          .where('tasks.finished_at', 'is not', null),
      ),
    )
    .execute()
}
