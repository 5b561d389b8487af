import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BoundaryCounter, requireFormBoundary } from '../../../src/platform/base/parse-form.ts'

test.each([
  ['multipart/form-data; boundary=abc', '--abc'],
  ['multipart/form-data; boundary="a b?c"', '--a b?c'],
  ['multipart/form-data; charset=utf-8; Boundary=----WebKitFormBoundary7MA4', '------WebKitFormBoundary7MA4'],
  ['multipart/form-data; boundary=abc; charset=utf-8', '--abc'],
])('%s has the boundary %s', (contentType, boundary) => {
  expect(requireFormBoundary(contentType).toString()).toBe(boundary)
})

test.each([
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary=a; boundary=b',
  'multipart/form-data; boundary=a; boundary*0=b',
  'multipart/form-data; boundary="a; boundary=b"',
  'multipart/form-data; boundary=a; x="boundary=b"',
  `multipart/form-data; boundary=${'a'.repeat(71)}`,
])('%s is refused', (contentType) => {
  expect(() => requireFormBoundary(contentType)).toThrow('must have one boundary')
})

test('a boundary is counted wherever the bytes are cut', () => {
  fc.assert(
    fc.property(fc.nat(20), fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (parts, cuts) => {
      const form = Buffer.from('--abc\r\n-x--ab'.repeat(parts) + '--abc--')
      const feed = (max: number) => {
        const counter = new BoundaryCounter(Buffer.from('--abc'), max)
        for (let at = 0, n = 0; at < form.length; n++) {
          const size = cuts[n % cuts.length] ?? 1
          counter.count(form.subarray(at, at + size))
          at += size
        }
      }
      feed(parts)
      if (parts > 0) expect(() => feed(parts - 1)).toThrow('more than')
    }),
  )
})
