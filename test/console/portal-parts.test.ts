import { expect, test } from 'vitest'
import { applyEvent, noProgress, type PortalEvent } from '../../console/src/portal/task-steps.ts'
import { LANGUAGES, MAIL_TEXTS, MESSAGE_TEXTS, PORTAL_TEXTS, WIDGET_TEXTS } from '../../client-text/languages.ts'
import { brandColors, contrast } from '../../console/src/ui/brand-colors.ts'

const COLORS = [
  '#000000',
  '#ffffff',
  '#ffd400',
  '#0b7a5d',
  '#7f7f7f',
  '#767676',
  '#ff0000',
  '#00ff00',
  '#0000ff',
  '#151a21',
]
const SURFACES = { light: '#ffffff', dark: '#151a21' }

test.each(COLORS)('text on the brand colour %s is readable, and the colour differs from the surface', (color) => {
  const colors = brandColors(color)
  for (const theme of ['light', 'dark'] as const) {
    const [accent = '', strong = '', on = ''] = ['accent', 'accent-strong', 'on-accent'].map(
      (name) => colors[`--${name}-${theme}`],
    )
    expect(contrast(accent, on)).toBeGreaterThanOrEqual(4.5)
    expect(contrast(strong, on)).toBeGreaterThanOrEqual(4.5)
    expect(contrast(accent, SURFACES[theme])).toBeGreaterThan(1.25)
  }
})

test('contrast is that of WCAG', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
  expect(contrast('#767676', '#ffffff')).toBeCloseTo(4.54, 2)
})

/** Texts that are the same in two languages. */
const SAME = /^(?:Team|Conversations?|Messages|Portal|No|Chat|Name)$/
const PARTS = { PORTAL_TEXTS, WIDGET_TEXTS, MAIL_TEXTS, MESSAGE_TEXTS }

test.each(LANGUAGES.slice(1))('every text that clients read is translated to %s', (language) => {
  const flat = (value: object): string[] =>
    Object.values(value).flatMap((one) =>
      typeof one === 'object' ? flat(one) : [typeof one === 'function' ? one('2') : one],
    )
  const english = flat(Object.values(PARTS).map(({ en }) => en))
  const translated = flat(Object.values(PARTS).map((texts) => texts[language]))
  const same = translated.filter((text, n) => text === english[n])
  expect(same.filter((text) => !SAME.test(text))).toEqual([])
})

test('the events of a task become steps in plain words, without the names of tools', () => {
  let id = 0
  const event = (type: string, data: PortalEvent['data'] = {}): PortalEvent => ({ id: ++id, type, data })
  const events = [
    event('task.created'),
    event('step.started'),
    event('tool.called', { tool: 'records_get' }),
    event('step.started'),
    event('tool.called', { tool: 'records_list' }),
    event('progress', { text: 'Comparing prices' }),
    event('progress', { text: 'Missing knowledge: what is our margin?' }),
    event('tool.called', { tool: 'stripe__refund' }),
    event('progress', { text: 'Which colour?', question_id: 'q1' }),
    event('progress', { text: 'Question answered', question_id: 'q1' }),
    event('progress', { text: 'Your approval is needed', approval_id: 'a1' }),
    event('progress', { text: 'Your approval is needed', approval_id: 'a2' }),
    event('progress', { text: 'Approved', approval_id: 'a1', decision: 'approved' }),
    event('artifact.created', { artifact_id: 'art_1', name: 'client/quote.txt' }),
    event('output.validated'),
    event('task.finished', { status: 'succeeded' }),
  ]
  const progress = events.reduce((sofar, one) => applyEvent(sofar, one, PORTAL_TEXTS.en), noProgress)
  expect(progress).toEqual({
    steps: [
      'Working on it',
      'Looking up information',
      'Comparing prices',
      'Working on it',
      'Preparing the next action',
      'Waiting for your answer',
      'Working on it',
      'Waiting for your approval',
      'Working on it',
      'Checking the result',
    ],
    isFinished: true,
    needsReply: false,
    files: [{ id: 'art_1', name: 'client/quote.txt' }],
    questionId: null,
    approvalChanges: 3,
  })
})
