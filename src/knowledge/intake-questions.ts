import { hash } from 'node:crypto'
import type { WedgeManifest } from '../contract/wedge-manifest.ts'
import type { IntakeQuestionRow } from '../store/tables.ts'

/** A question as the API shows it. A seed that nobody touched has no row, and so no time. */
export interface IntakeQuestion {
  id: string
  project_id: string
  question: string
  why: string | null
  kind: 'seed' | 'gap'
  status: 'open' | 'answered' | 'dismissed'
  answer: string | null
  knowledge_id: string | null
  task_id: string | null
  asked: number
  created_at: string | null
}

/** The manifest's questions in its order, in its words, then the gaps that runs have found, newest first. */
export function mergeIntakeQuestions(
  projectId: string,
  seeds: WedgeManifest['intake'],
  rows: IntakeQuestionRow[],
): IntakeQuestion[] {
  const own = rows.filter((row) => row.project_id === projectId)
  const known = seeds.map((seed) => {
    const row = own.find(({ question_id }) => question_id === seed.id)
    return { ...(row ? toIntakeQuestion(row) : untouchedFields(projectId)), ...seedFields(seed) }
  })
  const gaps = own.filter(({ kind }) => kind === 'gap')
  return [
    ...known,
    ...gaps.filter(({ question_id }) => !seeds.some(({ id }) => id === question_id)).map(toIntakeQuestion),
  ]
}

/** In percent: 100 says that nothing is left to ask. */
export function intakeCoverage(questions: Pick<IntakeQuestion, 'status'>[]): number {
  const counted = questions.filter(({ status }) => status !== 'dismissed')
  const answered = counted.filter(({ status }) => status === 'answered').length
  if (answered === counted.length) return 100
  return Math.min(99, Math.round((100 * answered) / counted.length))
}

/** Case, spaces and punctuation do not make another question. */
export function normalizeQuestion(question: string): string {
  return (
    question
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.join(' ') ?? question.trim()
  )
}

export function toGapId(question: string): string {
  return `gap-${hash('sha256', normalizeQuestion(question)).slice(0, 24)}`
}

const seedFields = (seed: WedgeManifest['intake'][number]) =>
  ({ id: seed.id, question: seed.question, why: seed.why ?? null, kind: 'seed' }) as const

function untouchedFields(projectId: string) {
  return {
    project_id: projectId,
    status: 'open',
    answer: null,
    knowledge_id: null,
    task_id: null,
    asked: 0,
    created_at: null,
  } as const
}

function toIntakeQuestion(row: IntakeQuestionRow): IntakeQuestion {
  return {
    id: row.question_id,
    project_id: row.project_id,
    question: row.question,
    why: row.why,
    kind: row.kind === 'seed' ? 'seed' : 'gap',
    status: row.status === 'answered' || row.status === 'dismissed' ? row.status : 'open',
    answer: row.answer,
    knowledge_id: row.knowledge_id,
    task_id: row.task_id,
    asked: row.asked,
    created_at: row.created_at,
  }
}
