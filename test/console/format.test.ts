import { expect, test } from 'vitest'
import { isTitleOf } from '../../console/src/api/repeated-text.ts'
import { summarizeInput } from '../../console/src/api/summarize-input.ts'
import { formatCountdown, formatDuration, formatTimeLeft } from '../../console/src/ui/format.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

test.each([
  [0, '0:00', '0 minutes'],
  [4 * MINUTE + 5 * SECOND, '4:05', '5 minutes'],
  [HOUR - SECOND, '59:59', '60 minutes'],
  [HOUR, '1 h', '1 hour'],
  [5 * HOUR + 12 * MINUTE, '5 h 12 min', '5 hours'],
  [DAY, '1 d', '1 day'],
  [2 * DAY + 3 * HOUR + MINUTE, '2 d 3 h', '2 days'],
  [30 * DAY, '30 d', '30 days'],
])('a countdown of %i ms is shown as %s and read as %s', (ms, shown, read) => {
  expect(formatCountdown(ms)).toBe(shown)
  expect(formatTimeLeft(ms)).toBe(read)
})

test('a duration of days is shown in days and hours', () => {
  expect(formatDuration(5 * MINUTE)).toBe('5 min 0 s')
  expect(formatDuration(25 * HOUR)).toBe('1 d 1 h')
})

test.each([
  [
    { subject: 'Guten Tag, wo ist meine…', body: 'Guten Tag, wo ist meine Lieferung?' },
    'Guten Tag, wo ist meine Lieferung?',
  ],
  [{ subject: 'Guten Tag', body: ' Guten Tag\n' }, 'Guten Tag'],
  [
    { subject: 'Guten Tag, wo ist meine Lieferung?', body: 'Guten Tag,\nwo ist meine Lieferung?' },
    'Guten Tag, wo ist meine Lieferung?',
  ],
  [{ subject: 'My\u00a0order  7', body: 'My order 7' }, 'My\u00a0order  7'],
  [{ subject: 'MY ORDER', body: 'My order is late' }, 'My order is late'],
  [{ subject: 'Re: Fwd: AW: My order', body: 'My order' }, 'Re: Fwd: AW: My order'],
  [{ subject: 'My order is...', body: 'My order is late' }, 'My order is late'],
  [{ subject: 'My order', body: 'Where is my order?' }, 'My order · Where is my order?'],
  [{ order_id: 'A-1', reason: 'broken', amount_usd: 5 }, 'A-1 · broken · 5'],
  [{ client: 'clt_01k8zq4m5x6y7z8a9b0c1d2e3f', text: 'Hello' }, 'Hello'],
])('the input %j of a task is shown as %s', (input, shown) => {
  expect(summarizeInput(input)).toBe(shown)
})

test.each([
  ['Where is it?', 'Where  is\nit?', true],
  ['Re: Where is…', 'Where is it?', true],
  ['My order', 'Where is my order?', false],
  ['', 'Where is my order?', false],
])('whether the title %j is repeated by the message %j: %s', (title, message, repeated) => {
  expect(isTitleOf(title, message)).toBe(repeated)
})

test('an input of a megabyte is summarized as fast as a short one', () => {
  expect(summarizeInput({ body: `x${' '.repeat(1_000_000)}y`, order: 'A-1' })).toBe(`x${' '.repeat(119)}`)
})
