import { sql } from 'kysely'
import { excluded } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { IntakeQuestionRow } from '../../platform/store/tables.ts'

/** Questions of the manifest first, then the newest gaps. */
export async function listIntakeQuestions(
  db: Db,
  projectIds: readonly string[],
  wedge: string,
  limit: number,
): Promise<IntakeQuestionRow[]> {
  const rows: IntakeQuestionRow[] = []
  for (const projectId of projectIds) rows.push(...(await listProjectQuestions(db, projectId, wedge, limit)))
  return rows.toSorted((a, b) => (orderOf(a) < orderOf(b) ? 1 : -1)).slice(0, limit)
}

const orderOf = ({ kind, created_at, id }: IntakeQuestionRow) => `${kind} ${created_at} ${id}`

/** One project at a time, because the index begins with the project. */
function listProjectQuestions(db: Db, projectId: string, wedge: string, limit: number): Promise<IntakeQuestionRow[]> {
  return db
    .selectFrom('intake_questions')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('wedge', '=', wedge)
    .orderBy('kind', 'desc')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

export function findIntakeQuestionRow(
  db: Db,
  { project_id, wedge, question_id }: Pick<IntakeQuestionRow, 'project_id' | 'wedge' | 'question_id'>,
): Promise<IntakeQuestionRow | undefined> {
  return db
    .selectFrom('intake_questions')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('wedge', '=', wedge)
    .where('question_id', '=', question_id)
    .executeTakeFirst()
}

/** The fields of a question that has no row yet. */
export type NewIntakeQuestion = Pick<
  IntakeQuestionRow,
  'project_id' | 'wedge' | 'question_id' | 'question' | 'why' | 'kind' | 'task_id' | 'asked'
>

/** Returns the row of the question, creates it if needed, and locks it until the commit. */
export function lockIntakeQuestion(db: Db, question: NewIntakeQuestion, now: string): Promise<IntakeQuestionRow> {
  return db
    .insertInto('intake_questions')
    .values(toNewRow(question, now))
    .onConflict((row) =>
      row.columns(['project_id', 'wedge', 'question_id']).doUpdateSet({ updated_at: excluded('updated_at') }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Increments how often the question was asked and returns its row. */
export function incrementIntakeQuestion(db: Db, question: NewIntakeQuestion, now: string): Promise<IntakeQuestionRow> {
  return db
    .insertInto('intake_questions')
    .values(toNewRow(question, now))
    .onConflict((row) =>
      row.columns(['project_id', 'wedge', 'question_id']).doUpdateSet({
        asked: sql<number>`intake_questions.asked + 1`,
        updated_at: excluded('updated_at'),
      }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function updateIntakeQuestion(
  db: Db,
  id: string,
  change: Pick<IntakeQuestionRow, 'status' | 'answer' | 'knowledge_id' | 'updated_at'>,
): Promise<void> {
  await db.updateTable('intake_questions').set(change).where('id', '=', id).execute()
}

export async function updateQuestionsToOpen(
  db: Db,
  projectId: string,
  knowledgeId: string,
  now: string,
): Promise<void> {
  await db
    .updateTable('intake_questions')
    .set({ status: 'open', answer: null, knowledge_id: null, updated_at: now })
    .where('project_id', '=', projectId)
    .where('knowledge_id', '=', knowledgeId)
    .execute()
}

function toNewRow(question: NewIntakeQuestion, now: string): IntakeQuestionRow {
  return {
    ...question,
    id: `${question.project_id}/${question.wedge}/${question.question_id}`,
    status: 'open',
    answer: null,
    knowledge_id: null,
    created_at: now,
    updated_at: now,
  }
}
