import { isPostgres } from '../store/dialect.ts'
import { excluded, literal, prepared } from '../store/prepared.ts'
import type { Replicas, Tasks } from '../store/tables.ts'

/** As the index says it. */
const ACTIVE = ['provisioning', 'running', 'awaiting_approval'].map(literal)

/** By order and not by `min`: so both stores walk the index of the queue and look at one entry. */
export const firstQueuedProject = prepared<{ after: string }, { project_id: string }>((db, arg) =>
  db
    .selectFrom('tasks')
    .select('project_id')
    .where('status', '=', literal('queued'))
    .where('project_id', '>', arg('after'))
    .orderBy('project_id')
    .orderBy('id')
    .limit(1),
)

export const claimQueued = prepared<{ project_id: string; replica: string; limit: number }, Tasks>((db, arg) =>
  db
    .updateTable('tasks')
    .set((eb) => ({ status: 'provisioning', replica: arg('replica'), epoch: eb('epoch', '+', 1) }))
    .where('status', '=', literal('queued'))
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('tasks')
        .select('id')
        .where('status', '=', literal('queued'))
        .where('project_id', '=', arg('project_id'))
        .orderBy('id')
        .limit(arg('limit'))
        // Replicas that claim at the same moment take different tasks instead of waiting for each other.
        .$if(isPostgres(db), (query) => query.forUpdate().skipLocked()),
    )
    .returningAll(),
)

export const projectTier = prepared<{ id: string }, { tier: string }>((db, arg) =>
  db.selectFrom('projects').select('tier').where('id', '=', arg('id')),
)

export const beat = prepared<Replicas>((db, arg) =>
  db
    .insertInto('replicas')
    .values({ id: arg('id'), started_at: arg('started_at'), seen_at: arg('seen_at') })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: excluded('seen_at') }))
    .$castTo<never>(),
)

export const forgetReplica = prepared<{ id: string }>((db, arg) =>
  db.deleteFrom('replicas').where('id', '=', arg('id')).$castTo<never>(),
)

/** Replicas that nobody has seen since, and names on tasks or effects that belong to no replica at all. */
export const silentReplicas = prepared<{ before: string }, { replica: string | null }>((db, arg) =>
  db
    .selectFrom('tasks')
    .select('replica')
    .distinct()
    .where('status', 'in', ACTIVE)
    .where('replica', 'not in', (eb) => eb.selectFrom('replicas').select('id').where('seen_at', '>=', arg('before')))
    .union(
      db
        .selectFrom('effects')
        .select('replica')
        .distinct()
        .where('outcome', '=', literal('sent'))
        .where('replica', 'not in', (eb) =>
          eb.selectFrom('replicas').select('id').where('seen_at', '>=', arg('before')),
        ),
    ),
)

export const activeTasksOf = prepared<{ replica: string }, Pick<Tasks, 'id' | 'epoch'>>((db, arg) =>
  db.selectFrom('tasks').select(['id', 'epoch']).where('replica', '=', arg('replica')).where('status', 'in', ACTIVE),
)
