import { sql } from 'kysely'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ArtifactRow, TaskRow } from '../../platform/store/tables.ts'

/** Tasks that finished before a time and still have their log, oldest first. */
export const listTasksWithOldLogs = prepareQuery<{ before: string; limit: number }, Pick<TaskRow, 'id' | 'project_id'>>(
  (db, arg) =>
    db
      .selectFrom('tasks')
      .select(['id', 'project_id'])
      .where('finished_at', '<', arg('before'))
      .where('log_pruned_at', 'is', null)
      .orderBy('finished_at')
      .limit(arg('limit')),
)

export const updateTaskLogPruned = prepareQuery<{ id: string; at: string }>((db, arg) =>
  db
    .updateTable('tasks')
    .set({ log_pruned_at: arg('at') })
    .where('id', '=', arg('id'))
    .$castTo<never>(),
)

type StoredArtifactRow = Pick<ArtifactRow, 'id' | 'project_id' | 'size' | 'storage'> & { bytes: number }

/** The artifacts with a stored file. `output.json` has none: it is the output of the task, which is kept. */
export const listArtifactFiles = prepareQuery<{ task_id: string }, StoredArtifactRow>((db, arg) =>
  db
    .selectFrom('artifacts')
    .leftJoin('artifact_files', 'artifact_files.artifact_id', 'artifacts.id')
    .select(['artifacts.id', 'artifacts.project_id', 'artifacts.size', 'artifacts.storage'])
    .select(sql<number>`coalesce(octet_length(artifact_files.content), artifacts.size)`.as('bytes'))
    .where('artifacts.task_id', '=', arg('task_id'))
    .where((eb) => eb.or([eb('artifact_files.artifact_id', 'is not', null), eb('artifacts.storage', '=', 's3')]))
    .orderBy('artifacts.id'),
)

export async function deleteArtifactWithFile(db: Db, artifact: { id: string }): Promise<void> {
  await deleteArtifactFile(db, artifact)
  await deleteArtifact(db, artifact)
}

const deleteArtifactFile = prepareQuery<{ id: string }>((db, arg) =>
  db.deleteFrom('artifact_files').where('artifact_id', '=', arg('id')).$castTo<never>(),
)

const deleteArtifact = prepareQuery<{ id: string }>((db, arg) =>
  db.deleteFrom('artifacts').where('id', '=', arg('id')).$castTo<never>(),
)

/** Removes what the actions of a task returned. */
export const deleteEffectResults = prepareQuery<{ task_id: string }>((db, arg) =>
  db.updateTable('effects').set({ result: null }).where('task_id', '=', arg('task_id')).$castTo<never>(),
)

/** The oldest event that retention has kept. */
export const findFirstEventNumber = prepareQuery<{ task_id: string }, { seq: number }>((db, arg) =>
  db.selectFrom('events').select('seq').where('task_id', '=', arg('task_id')).orderBy('seq').limit(1),
)

export const sumEventBytesBefore = prepareQuery<{ task_id: string; seq: number }, { bytes: number }>((db, arg) =>
  db
    .selectFrom('events')
    .select(sql<number>`coalesce(sum(octet_length(data)), 0)`.as('bytes'))
    .where('task_id', '=', arg('task_id'))
    .where('seq', '<', arg('seq')),
)

export const deleteEventsBefore = prepareQuery<{ task_id: string; seq: number }>((db, arg) =>
  db.deleteFrom('events').where('task_id', '=', arg('task_id')).where('seq', '<', arg('seq')).$castTo<never>(),
)
