import { type ExpressionBuilder, sql } from 'kysely'
import type { RunnerLimits } from '../../../platform/config/role-settings.ts'
import { prepareQuery } from '../../../platform/store/prepared-query.ts'
import type { Db } from '../../../platform/store/store.ts'
import type { QueuedTask, Tables } from '../../../platform/store/tables.ts'
import type { ClaimQueries, QueuedProject } from './claim-queries.ts'
import { isClaimable, oldestQueuedTasks, oldestReleasedTasks, releasedTasks } from './claim-rows.ts'

/**
 * The claims of a replica that is limited to projects or wedges. Each pair of a project and a wedge is one search of the
 * index `tasks_queued_wedge` or `tasks_status`, so tasks of other projects and wedges cost nothing, however many wait.
 * PostgreSQL only, because a SQLite file has one replica.
 */
export function limitedClaimQueries(limits: RunnerLimits): ClaimQueries {
  const findReleased = prepareQuery<object, { id: string }>((db) =>
    releasedTasks(db)
      .where((eb) => isWithin(eb, limits))
      .select('tasks.id')
      .limit(1),
  )
  const lockReleased = prepareQuery<{ limit: number }, QueuedTask>((db, arg) =>
    oldestReleasedTasks(db, arg('limit')).where((eb) => isWithin(eb, limits)),
  )
  const findProjectAfter = prepareQuery<{ after: string; now: string }, QueuedProject>((db, arg) =>
    findLimitedProject(db, limits, arg('after'), arg('now')),
  )
  const readers = {
    1: lockQueued(1, limits),
    2: lockQueued(2, limits),
    4: lockQueued(4, limits),
    8: lockQueued(8, limits),
  }
  return {
    hasClaimableTask: async (db, now) =>
      (await findReleased(db, {})).length > 0 || (await findProjectAfter(db, { after: '', now })).length > 0,
    async findNextProject(db, after, now) {
      const [next] = await findProjectAfter(db, { after, now })
      return next ?? (await findProjectAfter(db, { after: '', now }))[0]
    },
    lockReleasedTasks: (db, limit) => lockReleased(db, { limit }),
    lockQueuedTasks: (db, project, now, limit) => readers[limit](db, { ...project, now }),
  }
}

const lockQueued = (limit: number, { runnerWedges }: RunnerLimits) =>
  prepareQuery<QueuedProject & { now: string }, QueuedTask>((db, arg) =>
    oldestQueuedTasks(db, arg('project_id'), arg('now'), limit).$if(runnerWedges !== null, (query) =>
      query.where('tasks.wedge', '=', arg('wedge')),
    ),
  )

/** Few tasks are released at a time, so they are filtered. */
const isWithin = (eb: ExpressionBuilder<Tables, 'tasks'>, { runnerProjects, runnerWedges }: RunnerLimits) =>
  eb.and([
    ...(runnerProjects ? [eb('tasks.project_id', 'in', runnerProjects)] : []),
    ...(runnerWedges ? [eb('tasks.wedge', 'in', runnerWedges)] : []),
  ])

/** The first project after `after` with a task to claim, and the wedge of its oldest one. */
export const findLimitedProject = (db: Db, limits: RunnerLimits, after: string, now: string) =>
  db
    .selectFrom(pairsOf(limits))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('tasks')
          .select(['tasks.project_id', 'tasks.id'])
          .where('tasks.status', '=', 'queued')
          .where('tasks.project_id', '>', after)
          .$if(limits.runnerProjects !== null, (query) => query.whereRef('tasks.project_id', '=', 'pair.project'))
          .$if(limits.runnerWedges !== null, (query) => query.whereRef('tasks.wedge', '=', 'pair.wedge'))
          .where((task) => isClaimable(task, now))
          .orderBy('tasks.project_id')
          .orderBy('tasks.id')
          .limit(1)
          .as('first'),
      (join) => join.onTrue(),
    )
    .select(['first.project_id', 'pair.wedge'])
    .orderBy('first.project_id')
    .orderBy('first.id')
    .limit(1)

function pairsOf({ runnerProjects, runnerWedges }: RunnerLimits) {
  const pairs = (runnerProjects ?? [null]).flatMap((project) =>
    (runnerWedges ?? [null]).map((wedge) => sql`(cast(${project} as text), cast(${wedge} as text))`),
  )
  return sql<{ project: string | null; wedge: string | null }>`(values ${sql.join(pairs)})`.as<'pair'>(
    sql`pair(project, wedge)`,
  )
}
