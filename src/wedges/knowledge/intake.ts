import { conflict, notFound } from '../../platform/base/problem.ts'
import type { Wedge } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import type { Db } from '../../platform/store/store.ts'
import {
  incrementIntakeQuestion,
  listIntakeQuestions,
  type NewIntakeQuestion,
  findIntakeQuestionRow,
  updateIntakeQuestion,
  lockIntakeQuestion,
} from './intake-rows.ts'
import { changeKnowledgeItem, createKnowledgeItem } from './items.ts'
import {
  intakeCoverage,
  toGapId,
  type IntakeQuestion,
  mergeIntakeQuestions,
  normalizeQuestion,
} from './intake-questions.ts'

/** Agents can report any number of questions, and the response is not paged. */
export const MAX_SHOWN_QUESTIONS = 1000

/** The questions of the wedge and the percentage that is answered. */
export async function readIntake(db: Db, wedge: Wedge, projectIds: readonly string[]) {
  const rows = await listIntakeQuestions(db, projectIds, wedge.slug, MAX_SHOWN_QUESTIONS)
  const questions = projectIds.flatMap((projectId) => mergeIntakeQuestions(projectId, wedge.manifest.intake, rows))
  return { wedge: wedge.slug, coverage: intakeCoverage(questions), questions }
}

export async function requireIntakeQuestion(
  db: Db,
  wedge: Wedge,
  projectId: string,
  id: string,
): Promise<IntakeQuestion> {
  const row = await findIntakeQuestionRow(db, { project_id: projectId, wedge: wedge.slug, question_id: id })
  const seeds = wedge.manifest.intake.filter((seed) => seed.id === id)
  const [found] = mergeIntakeQuestions(projectId, seeds, row ? [row] : [])
  if (!found) throw notFound('question')
  return found
}

/** Stores the answer as knowledge. A second answer becomes the next version of the same item. */
export async function answerIntakeQuestion(tx: Tx, by: Actor, wedge: string, question: IntakeQuestion, answer: string) {
  const now = isoNow(tx)
  const row = await lockIntakeQuestion(tx.db, toNewIntakeQuestion(wedge, question), now)
  const content = `Question: ${question.question}\nAnswer: ${answer}`
  const item = row.knowledge_id
    ? await changeKnowledgeItem(tx, by, { id: row.knowledge_id, project_id: row.project_id }, { content })
    : await createKnowledgeItem(tx, by, {
        projectId: question.project_id,
        wedge,
        kind: 'answer',
        name: question.question.slice(0, 200),
        content,
        source: 'intake',
        metadata: { question_id: question.id },
      })
  await updateIntakeQuestion(tx.db, row.id, { status: 'answered', answer, knowledge_id: item.id, updated_at: now })
  return { ...question, status: 'answered', answer, knowledge_id: item.id, created_at: row.created_at }
}

export async function dismissIntakeQuestion(tx: Tx, wedge: string, question: IntakeQuestion) {
  const now = isoNow(tx)
  const row = await lockIntakeQuestion(tx.db, toNewIntakeQuestion(wedge, question), now)
  if (row.status === 'answered') throw conflict('question already answered')
  await updateIntakeQuestion(tx.db, row.id, { status: 'dismissed', answer: null, knowledge_id: null, updated_at: now })
  return { ...question, status: 'dismissed', created_at: row.created_at }
}

export interface KnowledgeGap {
  projectId: string
  wedge: string
  taskId: string
  question: string
  why?: string | null | undefined
}

/** Records that a run lacks knowledge. A repeated question is counted on one row, or on the seed with the same words. */
export async function reportKnowledgeGap(tx: Tx, gap: KnowledgeGap): Promise<{ question_id: string; asked: number }> {
  const seeds = tx.wedges.get(gap.wedge)?.manifest.intake ?? []
  const seed = seeds.find(({ question }) => normalizeQuestion(question) === normalizeQuestion(gap.question))
  const row = await incrementIntakeQuestion(
    tx.db,
    {
      project_id: gap.projectId,
      wedge: gap.wedge,
      question_id: seed?.id ?? toGapId(gap.question),
      question: gap.question,
      why: gap.why ?? null,
      kind: seed ? 'seed' : 'gap',
      task_id: gap.taskId,
      asked: 1,
    },
    isoNow(tx),
  )
  return { question_id: row.question_id, asked: row.asked }
}

function toNewIntakeQuestion(wedge: string, question: IntakeQuestion): NewIntakeQuestion {
  const { id, project_id, question: text, why, kind, task_id, asked } = question
  return { project_id, wedge, question_id: id, question: text, why, kind, task_id, asked }
}
