import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../src/platform/base/json.ts'
import { toCorrectionText } from '../../../src/wedges/knowledge/corrections.ts'
import { describeDifference, diffJson } from '../../../src/wedges/knowledge/json-diff.ts'

describe('the difference of two JSON values', () => {
  test.each<[string, Json, Json, JsonObject[]]>([
    ['no difference', { a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 }, []],
    ['a changed field', { a: 1, b: 2 }, { a: 1, b: 3 }, [{ path: 'b', before: 2, after: 3 }]],
    ['an added field', {}, { a: null }, [{ path: 'a', after: null }]],
    ['a removed field', { a: 1 }, {}, [{ path: 'a', before: 1 }]],
    ['a nested field', { a: { b: { c: 1 } } }, { a: { b: { c: 2 } } }, [{ path: 'a.b.c', before: 1, after: 2 }]],
    ['an item of a list', { a: [1, 2] }, { a: [1, 3] }, [{ path: 'a[1]', before: 2, after: 3 }]],
    ['a longer list', { a: [1] }, { a: [1, 2] }, [{ path: 'a', before: [1], after: [1, 2] }]],
    ['another type', { a: [] }, { a: {} }, [{ path: 'a', before: [], after: {} }]],
    ['the whole value', 1, 'one', [{ path: '', before: 1, after: 'one' }]],
    ['a field with a dot', {}, { 'a.b': 1 }, [{ path: '"a.b"', after: 1 }]],
    ['a field named like a method', {}, { constructor: 1 }, [{ path: 'constructor', after: 1 }]],
  ])('the difference shows %s', (_, before, after, expected) => {
    expect(diffJson(before, after)).toEqual(expected)
  })

  test('the difference is empty exactly for equal values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(diffJson(a as Json, a as Json)).toEqual([])
        const same = diffJson(a as Json, b as Json).length === 0
        expect(same).toBe(diffJson(b as Json, a as Json).length === 0)
      }),
    )
  })

  test('a difference is described in words', () => {
    expect(describeDifference({ path: 'to', before: 'a', after: 'b' })).toBe('to: "a" → "b"')
    expect(describeDifference({ path: 'cc', after: ['x'] })).toBe('cc: added ["x"]')
    expect(describeDifference({ path: 'cc', before: null })).toBe('cc: removed null')
    expect(describeDifference({ path: '', before: 1, after: 2 })).toBe('whole value: 1 → 2')
  })
})

test('the text of a correction has the proposal, the change and the approved payload', () => {
  const proposed = { to: 'ada@example.com', subject: 'Hi', body: 'Bye' }
  expect(toCorrectionText('mail:send', proposed, { subject: 'Dear Ada', bcc: 'me@example.com' }).split('\n')).toEqual([
    "A person changed a proposed 'mail:send' before approving it. Do it their way next time.",
    'Changed:',
    '- subject: "Hi" → "Dear Ada"',
    '- bcc: added "me@example.com"',
    'Proposed: {"to":"ada@example.com","subject":"Hi","body":"Bye"}',
    'Approved: {"to":"ada@example.com","subject":"Dear Ada","body":"Bye","bcc":"me@example.com"}',
  ])
  expect(toCorrectionText('mail:send', proposed, { subject: 'Hi' })).toContain('Nothing differs')
  expect(toCorrectionText('mail:send', { body: 'x'.repeat(50_000) }, { body: 'y'.repeat(50_000) }).length).toBeLessThan(
    12_000,
  )
})
