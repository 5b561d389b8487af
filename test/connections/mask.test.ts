import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MASK, maskOf } from '../../src/connections/mask.ts'

const SECRET = 'sk_live_c4n4ry+/=&"x'

const spellings: Record<string, string> = {
  'as it is': SECRET,
  'in a url': encodeURIComponent(SECRET),
  'in a form': new URLSearchParams({ k: SECRET }).toString(),
  'in json': JSON.stringify({ k: SECRET }),
  'in hex': Buffer.from(SECRET).toString('hex'),
  'in HEX': Buffer.from(SECRET).toString('hex').toUpperCase(),
}

test.each(Object.entries(spellings))('a secret %s is masked', (_, text) => {
  const masked = maskOf([SECRET]).text(`before ${text} after`)
  expect(masked).toContain(MASK)
  expect(masked).not.toContain(text)
})

test('a secret inside base64 is masked wherever it stands', () => {
  const around = fc.string({ minLength: 0, maxLength: 12 })
  fc.assert(
    fc.property(around, around, fc.constantFrom('base64', 'base64url'), (before, after, encoding) => {
      const text = Buffer.from(before + SECRET + after).toString(encoding)
      const masked = maskOf([SECRET]).text(text)
      expect(masked).toContain(MASK)
      // At most what its neighbours share is left.
      expect(masked.length).toBeLessThan(text.length - Buffer.from(SECRET).toString('base64').length + MASK.length + 8)
    }),
  )
})

test('json is masked in keys, values and numbers, whatever escapes it came with', () => {
  const value = JSON.parse(`{"a":["x \\u0073k_123456 y"],"sk_123456":1,"n":{"m":123456789}}`)
  expect(maskOf(['sk_123456', '123456789']).json(value)).toEqual({ a: [`x ${MASK} y`], [MASK]: 1, n: { m: MASK } })
})

test('without a secret nothing changes', () => {
  const value = { a: [1, 'b', null, true] }
  expect(maskOf([null, undefined, '']).json(value)).toEqual(value)
})

test('the signing part of a webhook secret is masked without its prefix too', () => {
  expect(maskOf(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']).text('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toBe(MASK)
})
