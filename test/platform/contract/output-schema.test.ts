import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isJsonObject, type Json, type JsonObject } from '../../../src/platform/base/json.ts'
import { schemaErrors } from '../../../src/platform/contract/output-schema.ts'

const json = fc.jsonValue({ maxDepth: 4 }).map((value): Json => JSON.parse(JSON.stringify(value)))

function parse(text: string): JsonObject {
  const value: Json = JSON.parse(text)
  if (!isJsonObject(value)) throw new Error('the test needs an object')
  return value
}

describe('types', () => {
  const samples: [string, Json][] = [
    ['null', null],
    ['boolean', false],
    ['number', 1.5],
    ['integer', 3],
    ['string', ''],
    ['array', []],
    ['object', {}],
  ]
  for (const [type] of samples) {
    for (const [name, value] of samples) {
      const ok = type === name || (type === 'number' && name === 'integer')
      test(`the type ${type} ${ok ? 'accepts' : 'refuses'} ${name}`, () => {
        const expected = ok ? [] : [{ path: '$', message: `must be ${type}, not ${name}` }]
        expect(schemaErrors({ type }, value)).toEqual(expected)
      })
    }
  }

  test('a list of types accepts any of them', () => {
    const schema = { type: ['string', 'null'] }
    expect(schemaErrors(schema, null)).toEqual([])
    expect(schemaErrors(schema, 'x')).toEqual([])
    expect(schemaErrors(schema, 2.5)).toEqual([{ path: '$', message: 'must be string or null, not number' }])
  })

  test('the number 1.0 is an integer', () => {
    expect(schemaErrors({ type: 'integer' }, JSON.parse('1.0'))).toEqual([])
    expect(schemaErrors({ type: 'integer' }, 1.5)).toEqual([{ path: '$', message: 'must be integer, not number' }])
  })
})

describe('objects and arrays', () => {
  const schema: JsonObject = {
    type: 'object',
    required: ['items', 'total'],
    properties: {
      total: { type: 'number' },
      items: { type: 'array', items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
    },
  }

  test('a matching value has no errors', () => {
    expect(schemaErrors(schema, { items: [{ name: 'a' }], total: 2, more: 'ignored' })).toEqual([])
  })

  test('errors name the path', () => {
    expect(schemaErrors(schema, { items: [{ name: 1 }, {}, 'x'] })).toEqual([
      { path: '$.total', message: 'is required' },
      { path: '$.items[0].name', message: 'must be string, not integer' },
      { path: '$.items[1].name', message: 'is required' },
      { path: '$.items[2]', message: 'must be object, not string' },
    ])
  })

  test('keys that are not identifiers are quoted in the path', () => {
    expect(schemaErrors({ required: ['a b', ''] }, {}).map((error) => error.path)).toEqual(['$["a b"]', '$[""]'])
  })

  test('an absent property is allowed unless it is required', () => {
    expect(schemaErrors({ properties: { a: { type: 'string' } } }, {})).toEqual([])
  })

  test('properties and required do not apply to a value that is not an object', () => {
    expect(schemaErrors({ required: ['a'], properties: { a: { type: 'string' } } }, ['x'])).toEqual([])
  })
})

describe('enum', () => {
  const choices: Json[] = ['a', 1, null, { x: [1, { y: 2 }], z: 0 }]
  const accepted: Json[] = ['a', 1, null, { z: 0, x: [1, { y: 2 }] }]
  const refused: Json[] = ['A', '1', false, 0, {}, { x: [1, { y: 3 }], z: 0 }, [], { x: [1, { y: 2 }], z: 0, more: 1 }]
  test.each(accepted)('the enum accepts %j', (value) => {
    expect(schemaErrors({ enum: choices }, value)).toEqual([])
  })
  test.each(refused)('the enum refuses %j', (value) => {
    expect(schemaErrors({ enum: choices }, value)).toEqual([
      { path: '$', message: 'must be one of "a", 1, null, {"x":[1,{"y":2}],"z":0}' },
    ])
  })
  test('the error of a long enum has the number of its values instead of the values', () => {
    const many = Array.from({ length: 21 }, (_, index) => index)
    expect(schemaErrors({ enum: many }, 'x')).toEqual([{ path: '$', message: 'must be one of the 21 listed values' }])
  })
  test('every value matches an enum that contains it', () => {
    fc.assert(
      fc.property(json, fc.array(json), (value, more) => schemaErrors({ enum: [...more, value] }, value).length === 0),
    )
  })
})

describe('ignored keywords', () => {
  test.each<[JsonObject, Json]>([
    [{ additionalProperties: false, properties: {} }, { a: 1 }],
    [{ oneOf: [{ type: 'string' }] }, 1],
    [{ anyOf: [], allOf: [{ type: 'string' }], not: {} }, 1],
    [{ pattern: '^a$', format: 'email', minLength: 9 }, 'b'],
    [{ minimum: 5, maximum: 1, multipleOf: 7 }, 3],
    [{ minItems: 2, uniqueItems: true }, [1]],
    [{ const: 1 }, 2],
    [{ $ref: '#/nowhere' }, 2],
  ])('the schema %j accepts %j', (schema, value) => {
    expect(schemaErrors(schema, value)).toEqual([])
  })
})

describe('invalid and hostile schemas', () => {
  test.each<JsonObject>([
    { type: 7 },
    { type: 'strng' },
    { type: ['strng', 'null'] },
    { type: [] },
    { type: [[]] },
    { type: null },
    { type: {} },
    { properties: [] },
    { properties: 'x' },
    { properties: { a: 1 } },
    { properties: { a: false } },
    { required: 'a' },
    { required: [1, null, {}] },
    { required: {} },
    { items: [{ type: 'null' }] },
    { items: 3 },
    { enum: 'x' },
    { enum: {} },
  ])('the invalid schema %j accepts every value', (schema) => {
    expect(schemaErrors(schema, { a: 1 })).toEqual([])
    expect(schemaErrors(schema, [1])).toEqual([])
  })

  test('prototype names are plain property names', () => {
    const schema = parse('{"required":["__proto__","toString"],"properties":{"__proto__":{"type":"string"}}}')
    expect(schemaErrors(schema, {})).toEqual([
      { path: '$.__proto__', message: 'is required' },
      { path: '$.toString', message: 'is required' },
    ])
    expect(schemaErrors(schema, parse('{"__proto__":1,"toString":1}'))).toEqual([
      { path: '$.__proto__', message: 'must be string, not integer' },
    ])
    expect(schemaErrors({ properties: {} }, parse('{"constructor":1,"__proto__":{}}'))).toEqual([])
    expect(schemaErrors(parse('{"__proto__":{"type":"string"}}'), 1)).toEqual([])
  })

  test('a value that is nested too deeply is an error, not a crash', () => {
    const depth = 50_000
    const schema = parse(`${'{"items":'.repeat(depth)}{}${'}'.repeat(depth)}`)
    const value: Json = JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    expect(schemaErrors(schema, value)).toEqual([{ path: `$${'[0]'.repeat(129)}`, message: 'is nested too deeply' }])
    expect(schemaErrors({ enum: [value, 1] }, value)).toEqual([{ path: '$', message: 'must be one of 1' }])
    expect(schemaErrors({ type: 'array' }, value)).toEqual([])
  })

  test('at most 100 errors are returned', () => {
    const value = Array.from({ length: 1000 }, () => 1)
    expect(schemaErrors({ items: { type: 'string' } }, value)).toHaveLength(100)
    expect(schemaErrors({ required: value.map((_, index) => `k${index}`) }, {})).toHaveLength(100)
  })

  test('large lists in schema and value are checked in linear time', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => ({ index }))
    expect(schemaErrors({ items: { enum: many } }, many)).toEqual([])
    const names = Array.from({ length: 20_000 }, () => 'index')
    expect(schemaErrors({ items: { required: names, type: 'object' } }, many)).toEqual([])
  })

  const word = fc.constantFrom('type', 'properties', 'required', 'items', 'enum', 'a', '__proto__', 'toString')
  const leaf = fc.oneof(word, fc.constantFrom('string', 'object', 'array', 'integer', 'null'), json)
  const { node } = fc.letrec<{ node: Json }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 6 },
      leaf,
      fc.array(tie('node'), { maxLength: 4 }),
      fc.array(fc.tuple(word, tie('node')), { maxLength: 5 }).map((fields) => Object.fromEntries(fields)),
    ),
  }))

  test('no schema and no value cause an exception, and neither is changed', () => {
    fc.assert(
      fc.property(node, node, (schema, value) => {
        const before = JSON.stringify([schema, value])
        const errors = schemaErrors(isJsonObject(schema) ? schema : { items: schema, properties: { a: schema } }, value)
        expect(errors.every((error) => error.path.startsWith('$') && error.message.length > 0)).toBe(true)
        expect(JSON.stringify([schema, value])).toBe(before)
      }),
      { numRuns: 500 },
    )
  })

  test('a schema that is derived from a value accepts the value', () => {
    fc.assert(fc.property(json, (value) => schemaErrors(describeValue(value), value).length === 0))
  })
})

function describeValue(value: Json): JsonObject {
  if (Array.isArray(value)) return { type: 'array', items: value.length === 1 ? describeValue(value[0] ?? null) : {} }
  if (isJsonObject(value)) {
    const properties = Object.entries(value).map(([key, item]) => [key, describeValue(item)])
    return { type: 'object', required: Object.keys(value), properties: Object.fromEntries(properties) }
  }
  return { type: value === null ? 'null' : typeof value, enum: [value] }
}
