import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../../src/platform/base/json.ts'
import { Problem } from '../../../../src/platform/base/problem.ts'
import { type FilterCondition, parseWhere } from '../../../../src/work/records/filter/where.ts'
import { matchesConditions } from './matches-conditions.ts'

const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 1]))
const matches = (where: Json, a: Json | undefined) => matchesConditions(parseWhere(where), a === undefined ? {} : { a })

describe('parseWhere', () => {
  test.each<[Json, FilterCondition[]]>([
    [{}, []],
    [{ status: 'open' }, [{ path: ['status'], op: 'eq', value: 'open' }]],
    [{ a: null }, [{ path: ['a'], op: 'eq', value: null }]],
    [{ 'a.b-c.D_9': true }, [{ path: ['a', 'b-c', 'D_9'], op: 'eq', value: true }]],
    [
      { total: { $gte: 5, $lt: 10 } },
      [
        { path: ['total'], op: 'gte', value: 5 },
        { path: ['total'], op: 'lt', value: 10 },
      ],
    ],
    [{ a: { $gt: 'x' } }, [{ path: ['a'], op: 'gt', value: 'x' }]],
    [{ a: { $lte: -1.5 } }, [{ path: ['a'], op: 'lte', value: -1.5 }]],
    [{ a: { $ne: null } }, [{ path: ['a'], op: 'ne', value: null }]],
    [{ a: { $in: [] } }, [{ path: ['a'], op: 'in', value: [] }]],
    [{ a: { $in: [1, 'x', null, false] } }, [{ path: ['a'], op: 'in', value: [1, 'x', null, false] }]],
    [{ a: { $exists: false } }, [{ path: ['a'], op: 'exists', value: false }]],
    [{ 'a.a.a.a.a.a.a.a': 1 }, [{ path: Array.from({ length: 8 }, () => 'a'), op: 'eq', value: 1 }]],
    [JSON.parse('{"__proto__":1}'), [{ path: ['__proto__'], op: 'eq', value: 1 }]],
  ])('%j is parsed into its conditions', (json, conditions) => {
    expect(parseWhere(json)).toEqual(conditions)
  })

  test('a filter has at most 20 conditions', () => {
    expect(parseWhere(fields(20))).toHaveLength(20)
    expect(() => parseWhere(fields(21))).toThrow('where takes at most 20 conditions')
    expect(() => parseWhere({ ...fields(19), g: { $gt: 1, $lt: 2 } })).toThrow(Problem)
  })

  test.each([
    undefined,
    null,
    'status',
    3,
    [],
    [{ a: 1 }],
    { '': 1 },
    { 'a.': 1 },
    { '.a': 1 },
    { 'a..b': 1 },
    { 'a b': 1 },
    { 'a"b': 1 },
    { "a'b": 1 },
    { 'a\n': 1 },
    { é: 1 },
    { 'a[0]': 1 },
    { $or: [] },
    { $exists: true },
    { 'a.a.a.a.a.a.a.a.a': 1 },
    { ['a'.repeat(65)]: 1 },
    { a: [1] },
    { a: {} },
    { a: { b: 1 } },
    { a: { $eq: 1 } },
    { a: { $regex: 'x' } },
    { a: { $GT: 1 } },
    { a: { $gt: 1, b: 1 } },
    { a: { $gt: null } },
    { a: { $gt: true } },
    { a: { $gt: {} } },
    { a: { $lt: [1] } },
    { a: { $ne: {} } },
    { a: { $ne: [] } },
    { a: { $in: 1 } },
    { a: { $in: { 0: 1 } } },
    { a: { $in: [[1]] } },
    { a: { $in: [{ $gt: 1 }] } },
    { a: { $in: Array.from({ length: 101 }, () => 1) } },
    { a: { $exists: 1 } },
    { a: { $exists: null } },
    { a: Number.POSITIVE_INFINITY },
    JSON.parse('{"a":{"__proto__":1}}'),
    JSON.parse('{"a":{"constructor":1}}'),
  ])('the filter %j is refused with 400', (json) => {
    expect(() => parseWhere(json)).toThrow(Problem)
    expect(() => parseWhere(json)).toThrow(
      expect.objectContaining({ status: 400, message: expect.stringMatching(/^where/) }),
    )
  })

  test('every JSON value is either parsed or refused with a Problem', () => {
    const key = fc.constantFrom('a', 'a.b', '$gt', '$in', '$ne', '$exists', '__proto__', 'a..b')
    const { node } = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 3 },
        fc.jsonValue({ maxDepth: 1 }),
        fc.dictionary(key, tie('node')),
        fc.array(tie('node')),
      ),
    }))
    fc.assert(
      fc.property(node, (json) => {
        try {
          expect(matchesConditions(parseWhere(json), null)).toBeTypeOf('boolean')
        } catch (error) {
          expect(error).toBeInstanceOf(Problem)
        }
      }),
    )
  })
})

describe('matchesConditions', () => {
  const value: Json = {
    text: 'b',
    digits: '10',
    number: 10,
    zero: 0,
    yes: true,
    nothing: null,
    list: ['b'],
    deep: { er: { still: 1 }, list: [{ a: 1 }] },
    face: '😀',
  }
  test.each<[Json, boolean]>([
    [{}, true],
    [{ text: 'b' }, true],
    [{ text: 'B' }, false],
    [{ number: 10 }, true],
    [{ number: '10' }, false],
    [{ digits: 10 }, false],
    [{ zero: false }, false],
    [{ zero: null }, false],
    [{ zero: -0 }, true],
    [{ yes: true }, true],
    [{ yes: 1 }, false],
    [{ nothing: null }, true],
    [{ absent: null }, false],
    [{ list: 'b' }, false],
    [{ 'list.0': 'b' }, false],
    [{ 'list.length': 1 }, false],
    [{ 'deep.er.still': 1 }, true],
    [{ 'deep.er': 1 }, false],
    [{ 'deep.list.0.a': 1 }, false],
    [{ 'text.length': 1 }, false],
    [{ text: { $ne: 'b' } }, false],
    [{ text: { $ne: 'c' } }, true],
    [{ number: { $ne: '10' } }, true],
    [{ absent: { $ne: 'c' } }, true],
    [{ absent: { $ne: null } }, true],
    [{ nothing: { $ne: null } }, false],
    [{ nothing: { $ne: 1 } }, true],
    [{ list: { $ne: 'b' } }, true],
    [{ deep: { $ne: null } }, true],
    [{ number: { $gt: 9 } }, true],
    [{ number: { $gt: 10 } }, false],
    [{ number: { $gte: 10 } }, true],
    [{ number: { $lt: 10 } }, false],
    [{ number: { $lte: 10 } }, true],
    [{ number: { $gt: '1' } }, false],
    [{ digits: { $gt: 1 } }, false],
    [{ digits: { $lt: '9' } }, true],
    [{ text: { $gt: 'B' } }, true],
    [{ text: { $gt: 'a', $lt: 'c' } }, true],
    [{ face: { $gt: '\uffee' } }, true],
    [{ yes: { $gte: 0 } }, false],
    [{ nothing: { $lte: 0 } }, false],
    [{ absent: { $lt: 5 } }, false],
    [{ list: { $gt: 'a' } }, false],
    [{ text: { $in: ['a', 'b'] } }, true],
    [{ text: { $in: [] } }, false],
    [{ number: { $in: ['10'] } }, false],
    [{ nothing: { $in: [null] } }, true],
    [{ absent: { $in: [null] } }, false],
    [{ list: { $in: ['b'] } }, false],
    [{ text: { $exists: true } }, true],
    [{ nothing: { $exists: true } }, true],
    [{ deep: { $exists: true } }, true],
    [{ absent: { $exists: true } }, false],
    [{ absent: { $exists: false } }, true],
    [{ nothing: { $exists: false } }, false],
    [{ 'nothing.more': { $exists: false } }, true],
    [{ text: 'b', number: 11 }, false],
    [{ toString: { $exists: true } }, false],
    [{ 'deep.constructor': { $exists: true } }, false],
    [JSON.parse('{"__proto__":{"$exists":true}}'), false],
  ])('the result of %j is %s', (where, expected) => {
    expect(matchesConditions(parseWhere(where), value)).toBe(expected)
  })

  test.each<Json>([null, 'text', 3, [{ a: 1 }]])('the value %j, which is not an object, has no fields', (whole) => {
    expect(matchesConditions(parseWhere({ a: { $exists: false } }), whole)).toBe(true)
    expect(matchesConditions(parseWhere({ a: 1 }), whole)).toBe(false)
  })

  const scalar = fc.oneof(
    fc.constantFrom(null, true, false, '', 'a', '1', 0, 1, '😀', '\uffee'),
    fc.integer(),
    fc.string(),
  )
  const field = fc.option(fc.oneof(scalar, fc.constantFrom<Json>([1], { a: 1 })), { nil: undefined })

  test('$ne is the opposite of equality, and $in with one value is equality', () => {
    fc.assert(
      fc.property(field, scalar, (a, wanted) => {
        expect(matches({ a: { $ne: wanted } }, a)).toBe(!matches({ a: wanted }, a))
        expect(matches({ a: { $in: [wanted] } }, a)).toBe(matches({ a: wanted }, a))
      }),
    )
  })

  test('two values of one type have an order, and two values of different types have none', () => {
    fc.assert(
      fc.property(field, fc.oneof(fc.integer(), fc.string({ unit: 'binary' })), (a, wanted) => {
        const [less, equal, more] = [{ $lt: wanted }, wanted, { $gt: wanted }].map((test) => matches({ a: test }, a))
        expect([less, equal, more].filter(Boolean)).toHaveLength(typeof a === typeof wanted ? 1 : 0)
        expect(matches({ a: { $lte: wanted } }, a)).toBe(less || equal)
        expect(matches({ a: { $gte: wanted } }, a)).toBe(more || equal)
      }),
    )
  })
})
