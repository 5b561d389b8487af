import { describe, expect, test } from 'vitest'
import {
  type RankCandidate,
  rankByRelevance,
  takeWithinBudget,
  wordsInInput,
} from '../../../src/wedges/knowledge/rank.ts'

const day = (n: number) => `2026-11-${String(n).padStart(2, '0')}T00:00:00.000Z`
const item = (name: string, content: string, updated: number, kind = 'note'): RankCandidate => ({
  name,
  content,
  kind,
  updated_at: day(updated),
})
const order = (items: RankCandidate[], input: Parameters<typeof wordsInInput>[0]) =>
  rankByRelevance(items, wordsInInput(input)).map(({ name }) => name)

describe('ranking knowledge for a run', () => {
  test('an item that shares words with the input comes first, even if it is old', () => {
    const items = [
      item('hours', 'We open at nine.', 20),
      item('holidays', 'Closed in August.', 19),
      item('refunds', 'A damaged parcel is refunded in full.', 1),
    ]
    expect(order(items, { reason: 'the parcel arrived damaged' })[0]).toBe('refunds')
  })

  test('without shared words the newest item comes first', () => {
    const items = [item('old', 'one', 1), item('new', 'two', 3), item('middle', 'three', 2)]
    expect(order(items, { text: 'unrelated' })).toEqual(['new', 'middle', 'old'])
    expect(order(items, null)).toEqual(['new', 'middle', 'old'])
  })

  test('a correction comes before a note with the same age and words', () => {
    const items = [item('note', 'greet by name', 2), item('correction', 'greet by name', 2, 'correction')]
    expect(order(items, 'please greet')[0]).toBe('correction')
  })

  test('a short text with the words comes before a long text with them', () => {
    const filler = Array.from({ length: 500 }, (_, n) => `filler${n}`).join(' ')
    expect(order([item('long', `refund ${filler}`, 2), item('short', 'refund policy', 2)], 'refund')[0]).toBe('short')
  })

  test('the names of the input fields do not count as words', () => {
    expect(wordsInInput({ amount: 20, nested: [{ reason: 'Late Parcel' }], yes: true, none: null })).toEqual(
      new Set(['late', 'parcel']),
    )
  })

  test('ranking no items returns none', () => {
    expect(order([], 'anything')).toEqual([])
  })
})

describe('the knowledge budget', () => {
  const text = (name: string, size: number) => ({ name, content: 'x'.repeat(size) })

  test('the budget is filled in order and skips texts that do not fit', () => {
    const { kept, leftOut } = takeWithinBudget([text('a', 50), text('b', 60), text('c', 40)], 100)
    expect(kept.map(({ name }) => name)).toEqual(['a', 'c'])
    expect(leftOut.map(({ name }) => name)).toEqual(['b'])
  })

  test('the budget counts bytes, not characters', () => {
    expect(takeWithinBudget([{ name: 'é', content: '日本' }], 7).kept).toEqual([])
    expect(takeWithinBudget([{ name: 'é', content: '日本' }], 8).kept).toHaveLength(1)
  })
})
