import { describe, expect, test } from 'vitest'
import { type RankCandidate, takeWithinBudget, rankByRelevance, wordsInInput } from '../../src/knowledge/rank.ts'

const day = (n: number) => `2026-11-${String(n).padStart(2, '0')}T00:00:00.000Z`
const item = (name: string, content: string, updated: number, kind = 'note'): RankCandidate => ({
  name,
  content,
  kind,
  updated_at: day(updated),
})
const order = (items: RankCandidate[], input: Parameters<typeof wordsInInput>[0]) =>
  rankByRelevance(items, wordsInInput(input)).map(({ name }) => name)

describe('what a run is told first', () => {
  test('is what speaks of the same things as its input, even when it is old', () => {
    const items = [
      item('hours', 'We open at nine.', 20),
      item('holidays', 'Closed in August.', 19),
      item('refunds', 'A damaged parcel is refunded in full.', 1),
    ]
    expect(order(items, { reason: 'the parcel arrived damaged' })[0]).toBe('refunds')
  })

  test('is the newest when nothing speaks of the input', () => {
    const items = [item('old', 'one', 1), item('new', 'two', 3), item('middle', 'three', 2)]
    expect(order(items, { text: 'unrelated' })).toEqual(['new', 'middle', 'old'])
    expect(order(items, null)).toEqual(['new', 'middle', 'old'])
  })

  test('is a correction before a note of the same age and matter', () => {
    const items = [item('note', 'greet by name', 2), item('correction', 'greet by name', 2, 'correction')]
    expect(order(items, 'please greet')[0]).toBe('correction')
  })

  test('is a short match before a long text that has the words by chance', () => {
    const filler = Array.from({ length: 500 }, (_, n) => `filler${n}`).join(' ')
    expect(order([item('long', `refund ${filler}`, 2), item('short', 'refund policy', 2)], 'refund')[0]).toBe('short')
  })

  test('does not depend on the names of the input fields', () => {
    expect(wordsInInput({ amount: 20, nested: [{ reason: 'Late Parcel' }], yes: true, none: null })).toEqual(
      new Set(['late', 'parcel']),
    )
  })

  test('is found for no items at all', () => {
    expect(order([], 'anything')).toEqual([])
  })
})

describe('a budget', () => {
  const text = (name: string, size: number) => ({ name, content: 'x'.repeat(size) })

  test('is filled in order, passing over what does not fit', () => {
    const { kept, left } = takeWithinBudget([text('a', 50), text('b', 60), text('c', 40)], 100)
    expect(kept.map(({ name }) => name)).toEqual(['a', 'c'])
    expect(left.map(({ name }) => name)).toEqual(['b'])
  })

  test('counts bytes, not characters', () => {
    expect(takeWithinBudget([{ name: 'é', content: '日本' }], 7).kept).toEqual([])
    expect(takeWithinBudget([{ name: 'é', content: '日本' }], 8).kept).toHaveLength(1)
  })
})
