import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../src/platform/base/json.ts'
import { Problem } from '../../../src/platform/base/problem.ts'
import { parseStrictJson } from '../../../src/platform/base/strict-json.ts'

const parseText = (text: string) => parseStrictJson(Buffer.from(text))

function refusal(bytes: Uint8Array): { status: number; message: string } | null {
  try {
    parseStrictJson(bytes)
    return null
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { status: error.status, message: error.message }
  }
}

const nested = (open: string, close: string, levels: number) => open.repeat(levels) + close.repeat(levels)

describe('accepted JSON', () => {
  test.each([
    'null',
    ' {"a": [1, -2.5e3, true, "x"]}\n',
    '""',
    '"\\u00e9 \\ud83d\\ude00 😀 \\\\u0000 \\n"',
    '[1e308, 1E-400, -0]',
    nested('[', ']', 64),
    `${'{"a":'.repeat(63)}[]${'}'.repeat(63)}`,
    `"${'['.repeat(200)}"`,
    `["\\"${'{'.repeat(200)}"]`,
    '[[],[],{"\\\\":[]}]',
    `[${'[],'.repeat(200)}[]]`,
    '"true1e5 \\" 1e999"',
  ])('%s is accepted', (text) => {
    expect(parseText(text)).toEqual(JSON.parse(text))
  })

  test('prototype keys are plain data', () => {
    const value = parseText('{"__proto__":{"admin":true},"constructor":{"prototype":1},"\\u005f_proto__2":1}')
    expect(Object.keys(value ?? {})).toEqual(['__proto__', 'constructor', '__proto__2'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(JSON.stringify(value)).toContain('"__proto__":{"admin":true}')
  })

  test('every storable JSON value is parsed unchanged', () => {
    const text = fc.jsonValue({ maxDepth: 10, stringUnit: 'binary' }).map((value) => JSON.stringify(value))
    const storable = text.filter((json) => !/\\u0000|\\ud[89a-f]/.test(json))
    fc.assert(
      fc.property(storable, (json) => {
        expect(JSON.stringify(parseText(json))).toBe(JSON.stringify(JSON.parse(json)))
      }),
    )
  })
})

describe('refused JSON', () => {
  const malformed = 'malformed json'
  const deep = 'json must not nest deeper than 64 levels'
  const nul = 'json must not contain nul characters'
  const lone = 'json must not contain lone surrogates'
  const large = 'json must not contain numbers beyond 1.8e308'
  test.each([
    ['', malformed],
    ['{', malformed],
    ['"abc', malformed],
    ['"abc\\', malformed],
    ['[1,]', malformed],
    ["{'a':1}", malformed],
    ['NaN', malformed],
    ['1 2', malformed],
    [']]]]{{', malformed],
    ['\ufeff{}', malformed],
    ['"\0"', malformed],
    ['\0', malformed],
    ['"\t"', malformed],
    [nested('[', ']', 65), deep],
    [nested('[', ']', 500_000), deep],
    ['[{"a":'.repeat(33), deep],
    ['"\\u0000"', nul],
    ['{"a":[{"\\u0000":1}]}', nul],
    ['["\\\\\\u0000"]', nul],
    ['"\\ud800"', lone],
    ['"\\ude00\\ud83d"', lone],
    ['{"x\\uDFFF":1}', lone],
    ['1e999', large],
    ['[{"a":-1E+400}]', large],
    ['9'.repeat(400), large],
    [`-${'9'.repeat(310)}.5`, large],
  ])('the text %.40s is 400', (text, message) => {
    expect(refusal(Buffer.from(text))).toEqual({ status: 400, message })
  })

  test.each([
    [0x22, 0xff, 0x22],
    [0x22, 0xc0, 0x80, 0x22],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0x22, 0xf5, 0x80, 0x80, 0x80, 0x22],
    [0x22, 0xe2, 0x82, 0x22],
  ])('bytes that are not UTF-8 are 400: %i %i %i', (...bytes) => {
    expect(refusal(Uint8Array.from(bytes))).toEqual({ status: 400, message: 'json must be valid utf-8' })
  })

  test('any bytes give a storable value or a 400 with a lower-case sentence', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      'u0000',
      '\\ud800',
      ':',
      ',',
      '1',
      'e9',
      '99',
      '\0',
      'é',
    )
    const bytes = fc.oneof(
      fc.uint8Array(),
      fc.array(piece).map((pieces) => Uint8Array.from(Buffer.from(pieces.join('')))),
    )
    fc.assert(
      fc.property(bytes, (input) => {
        const refused = refusal(input)
        if (refused) {
          expect(refused).toEqual({ status: 400, message: refused.message.toLowerCase() })
          return
        }
        const value: Json = parseStrictJson(input)
        const text = JSON.stringify(value)
        expect(text).not.toMatch(/\\u0000|\\ud[89a-f]/)
        expect(parseText(text)).toEqual(JSON.parse(text))
      }),
      { numRuns: 1000 },
    )
  })
})
