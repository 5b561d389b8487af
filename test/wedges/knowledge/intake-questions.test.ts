import { describe, expect, test } from 'vitest'
import { toFeedbackText } from '../../../src/wedges/knowledge/feedback.ts'
import { intakeCoverage, mergeIntakeQuestions, toGapId } from '../../../src/wedges/knowledge/intake-questions.ts'
import type { IntakeQuestionRow } from '../../../src/platform/store/tables.ts'

const row = (question_id: string, more: Partial<IntakeQuestionRow> = {}): IntakeQuestionRow => ({
  id: question_id,
  project_id: 'prj_1',
  wedge: 'support',
  question_id,
  question: `${question_id}?`,
  why: null,
  kind: 'gap',
  status: 'open',
  answer: null,
  knowledge_id: null,
  task_id: null,
  asked: 1,
  created_at: '2026-11-14T09:30:00.000Z',
  updated_at: '2026-11-14T09:30:00.000Z',
  ...more,
})

describe('the intake questions of a wedge', () => {
  test('the questions are all seeds, with or without a row, and then the gaps', () => {
    const seeds = [
      { id: 'window', question: 'How many days?', why: 'It decides.' },
      { id: 'who', question: 'Who?' },
    ]
    const rows = [
      row('gap-1'),
      row('who', {
        kind: 'seed',
        question: 'In older words?',
        status: 'answered',
        answer: 'Ada',
        knowledge_id: 'kn_1',
      }),
      row('dropped', { kind: 'seed' }),
      row('gap-2', { project_id: 'prj_2' }),
    ]
    expect(mergeIntakeQuestions('prj_1', seeds, rows)).toMatchObject([
      { id: 'window', kind: 'seed', status: 'open', why: 'It decides.', created_at: null, asked: 0 },
      { id: 'who', kind: 'seed', status: 'answered', question: 'Who?', answer: 'Ada', knowledge_id: 'kn_1' },
      { id: 'gap-1', kind: 'gap', status: 'open' },
    ])
  })

  test.each<[number, string[]]>([
    [100, []],
    [100, ['dismissed']],
    [0, ['open']],
    [100, ['answered']],
    [67, ['answered', 'answered', 'open']],
    [50, ['answered', 'dismissed', 'open']],
    [99, [...Array.from({ length: 300 }, () => 'answered'), 'open']],
  ])('the coverage is %d percent for the statuses %j', (coverage, statuses) => {
    expect(intakeCoverage(statuses.map((status) => ({ status: status as 'open' })))).toBe(coverage)
  })

  test('a question has the same id with any case, spaces and punctuation', () => {
    const id = toGapId('What is the return window?')
    expect(id).toMatch(/^gap-[0-9a-f]{24}$/)
    expect(toGapId('  what is the RETURN window')).toBe(id)
    expect(toGapId('what is the return-window ?!')).toBe(id)
    expect(toGapId('What is the return address?')).not.toBe(id)
    expect(toGapId('???')).not.toBe(toGapId('!!!'))
  })
})

describe('the text of feedback', () => {
  test('a rating alone has no text', () => {
    expect(toFeedbackText('triage', { rating: 5 })).toBeNull()
    expect(toFeedbackText('triage', { rating: 1, note: '', correction: '' })).toBeNull()
  })

  test('the text of feedback has the rating, the correction and the note', () => {
    expect(toFeedbackText('triage', { rating: 2, correction: { reply: 'Hello' }, note: 'be kind' })).toBe(
      'A person gave feedback on a finished \'triage\' task.\nRating: 2\nIt should have been: {"reply":"Hello"}\nNote: be kind',
    )
    expect(toFeedbackText('triage', { correction: 'say hello' })).toContain('It should have been: say hello')
  })
})
