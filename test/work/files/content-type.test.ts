import { describe, expect, test } from 'vitest'
import { detectContentType } from '../../../src/work/files/content-type.ts'

const typeOf = (text: string, name = 'a.txt', declared = 'text/plain') =>
  detectContentType(Buffer.from(text), name, declared)

describe('the content type of a file', () => {
  test.each([
    ['<svg xmlns="a">', 'image/svg+xml'],
    ['\ufeff <?xml version="1.0"?>\n<!-- a --> <!DOCTYPE svg PUBLIC "b">\n<SVG>', 'image/svg+xml'],
    ['<!doctype html><p>', 'text/html'],
    ['<!-- a --><!-- b -->\n<script>', 'text/html'],
    [`<!-- ${'a'.repeat(2000)} --><script>`, 'text/html'],
    ['a < b and <script>', 'text/plain'],
    ['<!-- a --> text', 'text/plain'],
  ])('%#: markup is recognised, whatever is before it', (text, expected) => {
    expect(typeOf(text)).toBe(expected)
  })

  test('a file of many comments is read in one pass', () => {
    // With a nested quantifier this took longer than any test may.
    expect(typeOf(`${'<!---->'.repeat(140)}x`)).toBe('text/plain')
  })
})
