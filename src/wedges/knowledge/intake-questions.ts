import { hash } from 'node:crypto'
import type { WedgeManifest } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { IntakeQuestionRow } from '../../platform/store/tables.ts'

/** A question as the API shows it. A seed question without a row has no `created_at`. */
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

/** The manifest's questions in its order and wording, then the gaps that runs reported, newest first. */
export function mergeIntakeQuestions(
  projectId: string,
  seeds: WedgeManifest['intake'],
  rows: IntakeQuestionRow[],
): IntakeQuestion[] {
  const own = rows.filter((row) => row.project_id === projectId)
  const fromManifest = seeds.map((seed) => {
    const row = own.find(({ question_id }) => question_id === seed.id)
    return { ...(row ? toIntakeQuestion(row) : untouchedFields(projectId)), ...seedFields(seed) }
  })
  const gaps = own.filter(({ kind }) => kind === 'gap')
  return [
    ...fromManifest,
    ...gaps.filter(({ question_id }) => !seeds.some(({ id }) => id === question_id)).map(toIntakeQuestion),
  ]
}

/** The percentage of answered questions; 100 only if no question is open. */
export function intakeCoverage(questions: Pick<IntakeQuestion, 'status'>[]): number {
  const counted = questions.filter(({ status }) => status !== 'dismissed')
  const answered = counted.filter(({ status }) => status === 'answered').length
  if (answered === counted.length) return 100
  return Math.min(99, Math.round((100 * answered) / counted.length))
}

/** Ignores case, spaces and punctuation, so that the same question is recognised. */
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
