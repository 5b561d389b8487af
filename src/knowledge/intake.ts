import { conflict, notFound } from '../base/problem.ts'
import type { Wedge } from '../base/wedge.ts'
import type { Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import type { Db } from '../store/store.ts'
import {
  countQuestion,
  listQuestions,
  type NewQuestion,
  questionRow,
  setQuestion,
  takeQuestion,
} from './intake-rows.ts'
import { changeItem, createItem } from './items.ts'
import { coverageOf, gapId, type Question, questionsOf, sameWords } from './questions.ts'

/** More than anybody will answer; agents write them, and all are shown at once. */
export const MOST_SHOWN = 1000

/** What the wedge would like to know, and how much of it is known. */
export async function intakeOf(db: Db, wedge: Wedge, projectIds: readonly string[]) {
  const rows = await listQuestions(db, projectIds, wedge.slug, MOST_SHOWN)
  const questions = projectIds.flatMap((projectId) => questionsOf(projectId, wedge.manifest.intake, rows))
  return { wedge: wedge.slug, coverage: coverageOf(questions), questions }
}

export async function findQuestion(db: Db, wedge: Wedge, projectId: string, id: string): Promise<Question> {
  const row = await questionRow(db, { project_id: projectId, wedge: wedge.slug, question_id: id })
  const seeds = wedge.manifest.intake.filter((seed) => seed.id === id)
  const [found] = questionsOf(projectId, seeds, row ? [row] : [])
  if (!found) throw notFound('question')
  return found
}

/** An answer is knowledge from now on; a second answer is the next version of the same item. */
export async function answerQuestion(tx: Tx, by: Actor, wedge: string, question: Question, answer: string) {
  const now = isoNow(tx)
  const row = await takeQuestion(tx.db, asRow(wedge, question), now)
  const content = `Question: ${question.question}\nAnswer: ${answer}`
  const item = row.knowledge_id
    ? await changeItem(tx, by, { id: row.knowledge_id, project_id: row.project_id }, { content })
    : await createItem(tx, by, {
        projectId: question.project_id,
        wedge,
        kind: 'answer',
        name: question.question.slice(0, 200),
        content,
        source: 'intake',
        metadata: { question_id: question.id },
      })
  await setQuestion(tx.db, row.id, { status: 'answered', answer, knowledge_id: item.id, updated_at: now })
  return { ...question, status: 'answered', answer, knowledge_id: item.id, created_at: row.created_at }
}

export async function dismissQuestion(tx: Tx, wedge: string, question: Question) {
  const now = isoNow(tx)
  const row = await takeQuestion(tx.db, asRow(wedge, question), now)
  if (row.status === 'answered') throw conflict('question already answered')
  await setQuestion(tx.db, row.id, { status: 'dismissed', answer: null, knowledge_id: null, updated_at: now })
  return { ...question, status: 'dismissed', created_at: row.created_at }
}

export interface Gap {
  projectId: string
  wedge: string
  taskId: string
  question: string
  why?: string | null | undefined
}

/** A run misses knowledge. The same question is one row, however often it comes; a seed's question is the seed's. */
export async function reportGap(tx: Tx, gap: Gap): Promise<{ question_id: string; asked: number }> {
  const seeds = tx.wedges.get(gap.wedge)?.manifest.intake ?? []
  const seed = seeds.find(({ question }) => sameWords(question) === sameWords(gap.question))
  const row = await countQuestion(
    tx.db,
    {
      project_id: gap.projectId,
      wedge: gap.wedge,
      question_id: seed?.id ?? gapId(gap.question),
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

function asRow(wedge: string, question: Question): NewQuestion {
  const { id, project_id, question: words, why, kind, task_id, asked } = question
  return { project_id, wedge, question_id: id, question: words, why, kind, task_id, asked }
}
