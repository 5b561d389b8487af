import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLineSplitter } from '../../../src/platform/base/lines.ts'

function split(chunks: Buffer[], maxBytes = 1000): { lines: string[]; ok: boolean; rest: string } {
  const lines: string[] = []
  const splitter = createLineSplitter(maxBytes, (line) => void lines.push(line))
  const ok = chunks.every((chunk) => splitter.push(chunk))
  return { lines, ok, rest: splitter.rest() }
}

test('lines are complete wherever the bytes were cut, even inside a UTF-8 character', () => {
  const text = fc.array(fc.string({ unit: fc.constantFrom('a', 'ü', '漢', '😀', '"'), maxLength: 20 }), {
    minLength: 1,
  })
  fc.assert(
    fc.property(text, fc.array(fc.nat(7), { minLength: 1 }), (lines, sizes) => {
      const bytes = Buffer.from(lines.join('\n'))
      const chunks: Buffer[] = []
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const size = 1 + (sizes[turn % sizes.length] ?? 0)
        chunks.push(bytes.subarray(at, at + size))
        at += size
      }
      const result = split(chunks)
      expect([...result.lines, result.rest]).toEqual(lines)
    }),
  )
})

test('a line of exactly the maximum length is accepted and one byte more is refused', () => {
  expect(split([Buffer.from(`${'x'.repeat(10)}\n`)], 10)).toMatchObject({ ok: true, lines: ['x'.repeat(10)] })
  expect(split([Buffer.from(`${'x'.repeat(11)}\n`)], 10)).toMatchObject({ ok: false, lines: [] })
})

test('a line without an end is refused as soon as it is too long', () => {
  const splitter = createLineSplitter(10, () => {})
  expect(splitter.push(Buffer.from('12345'))).toBe(true)
  expect(splitter.push(Buffer.from('678901'))).toBe(false)
  expect(splitter.push(Buffer.from('\nmore\n'))).toBe(false)
})

test('a too long line between short ones is refused when all arrive in one chunk', () => {
  expect(split([Buffer.from(`a\n${'x'.repeat(11)}\nb\n`)], 10).ok).toBe(false)
  expect(split([Buffer.from('aaaaa\nbbbbb\nccccc\n')], 10)).toMatchObject({
    ok: true,
    lines: ['aaaaa', 'bbbbb', 'ccccc'],
  })
})

test('empty lines are emitted', () => {
  expect(split([Buffer.from('a\n\n'), Buffer.from('\nb')])).toMatchObject({ lines: ['a', '', ''], rest: 'b' })
})
