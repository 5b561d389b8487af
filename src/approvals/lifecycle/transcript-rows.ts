import type { TranscriptEntry } from '../../platform/contract/transcript.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { TranscriptRow } from '../../platform/store/tables.ts'

const insertTranscript = prepareQuery<TranscriptRow>((db, arg) =>
  db
    .insertInto('transcripts')
    .values({ task_id: arg('task_id'), seq: arg('seq'), entries: arg('entries') })
    .$castTo<never>(),
)

/** Appends entries as one row. `seq` is the number of the row; each run writes its rows in order. */
export async function appendTranscript(
  db: Db,
  taskId: string,
  seq: number,
  entries: readonly TranscriptEntry[],
): Promise<void> {
  await insertTranscript(db, { task_id: taskId, seq, entries: JSON.stringify(entries) })
}

const listTranscriptRows = prepareQuery<{ task_id: string }, TranscriptRow>((db, arg) =>
  db.selectFrom('transcripts').selectAll().where('task_id', '=', arg('task_id')).orderBy('seq'),
)

/** All entries of a task, and the number of the next row. Not limited to a scope. */
export async function readTranscript(db: Db, taskId: string): Promise<{ entries: TranscriptEntry[]; nextSeq: number }> {
  const rows = await listTranscriptRows(db, { task_id: taskId })
  return {
    entries: rows.flatMap((row): TranscriptEntry[] => JSON.parse(row.entries)),
    nextSeq: (rows.at(-1)?.seq ?? 0) + 1,
  }
}

export const deleteTranscript = prepareQuery<{ task_id: string }>((db, arg) =>
  db.deleteFrom('transcripts').where('task_id', '=', arg('task_id')).$castTo<never>(),
)
