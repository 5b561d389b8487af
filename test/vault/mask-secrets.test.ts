import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SECRET_MASK, createSecretMask } from '../../src/vault/mask-secrets.ts'

const SECRET = 'sk_live_c4n4ry+/=&"x'

const spellings: Record<string, string> = {
  'as it is': SECRET,
  'in a url': encodeURIComponent(SECRET),
  'in a form': new URLSearchParams({ k: SECRET }).toString(),
  'in json': JSON.stringify({ k: SECRET }),
  'in hex': Buffer.from(SECRET).toString('hex'),
  'in HEX': Buffer.from(SECRET).toString('hex').toUpperCase(),
}

const escaped = (text: string, characters: RegExp) =>
  text.replaceAll(characters, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)

const html = (text: string, more: Record<string, string>) => {
  const ways: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', ...more }
  return text.replaceAll(/[&<>"'/]/g, (one) => ways[one] ?? one)
}

test.each(Object.entries(spellings))('a secret %s is masked', (_, text) => {
  const masked = createSecretMask([SECRET]).text(`before ${text} after`)
  expect(masked).toContain(SECRET_MASK)
  expect(masked).not.toContain(text)
})

test.each([
  [
    'in a url with small hex digits',
    (text: string) => encodeURIComponent(text).replaceAll(/%../g, (hex) => hex.toLowerCase()),
  ],
  ['in json with escaped slashes', (text: string) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/')],
  ['in json that is safe in a page', (text: string) => escaped(JSON.stringify(text).slice(1, -1), /[&<>'+=]/g)],
  [
    'in json that is safe in a page, with large hex digits',
    (text: string) =>
      escaped(text, /[&<>'"+=/]/g)
        .toUpperCase()
        .replaceAll('\\U', '\\u'),
  ],
  ['in html', (text: string) => html(text, { "'": '&#39;' })],
  ['in html by code', (text: string) => html(text, { "'": '&#x27;', '"': '&#34;', '/': '&#x2F;' })],
  ['in html with three digits', (text: string) => html(text, { "'": '&#039;' })],
])('a secret %s leaves nothing but its mask', (_, spell) => {
  // Capitals, so that a spelling may change all of it to capitals.
  const secret = 'CANARY/5ECRET&<VALUE>\'X"+Y\\Z=='
  expect(createSecretMask([secret]).text(`before ${spell(secret)} after`)).toBe(`before ${SECRET_MASK} after`)
})

test.each(['canary-5ecret ', ' canary-5ecret', '\tcanary-5ecret  '])(
  '%j is masked as it is heard, without its blanks',
  (secret) => {
    const mask = createSecretMask([secret])
    expect(mask.text('Bearer canary-5ecret')).toBe(`Bearer ${SECRET_MASK}`)
    expect(mask.text(Buffer.from('Bearer canary-5ecret').toString('base64'))).toContain(SECRET_MASK)
  },
)

test.each([
  ['blanks as a form writes them', 'my c4n4ry', 'my+c4n4ry'],
  ['a character of two units across the beginning', 'c4n4r😀/x', 'c4n4r%F0%9F%98%80%2Fx'],
  ['such a character in json', 'c4n4r😀/x', 'c4n4r\\ud83d\\ude00\\/x'],
])('a text that is nothing but the secret, with %s, is masked', (_, secret, text) => {
  expect(createSecretMask([secret]).text(text)).toBe(SECRET_MASK)
})

test('a short secret is masked as it is, and blanks are no secret', () => {
  expect(createSecretMask(['a/b ']).text('a/b a%2Fb a\\/b')).toBe(`${SECRET_MASK} a%2Fb a\\/b`)
  expect(createSecretMask([' a/b']).text('is a/b')).toBe(`is ${SECRET_MASK}`)
  expect(createSecretMask(['whsec_', '   ']).text('as it was')).toBe('as it was')
})

test('the longest secret and the longest body are masked in one go', () => {
  const secret = '&\\%'.repeat(20_000)
  const body = `${'&amp;\\\\%25'.repeat(20_000)} and ${'\\&%'.repeat(20_000)}`
  expect(createSecretMask([secret]).text(body)).toBe(`${SECRET_MASK} and ${'\\&%'.repeat(20_000)}`)
})

test('a secret inside base64 is masked wherever it stands', () => {
  const around = fc.string({ minLength: 0, maxLength: 12 })
  fc.assert(
    fc.property(around, around, fc.constantFrom('base64', 'base64url'), (before, after, encoding) => {
      const text = Buffer.from(before + SECRET + after).toString(encoding)
      const masked = createSecretMask([SECRET]).text(text)
      expect(masked).toContain(SECRET_MASK)
      // At most what its neighbours share is left.
      expect(masked.length).toBeLessThan(
        text.length - Buffer.from(SECRET).toString('base64').length + SECRET_MASK.length + 8,
      )
    }),
  )
})

test('json is masked in keys, values and numbers, whatever escapes it came with', () => {
  const value = JSON.parse(`{"a":["x \\u0073k_123456 y"],"sk_123456":1,"n":{"m":123456789}}`)
  expect(createSecretMask(['sk_123456', '123456789']).json(value)).toEqual({
    a: [`x ${SECRET_MASK} y`],
    [SECRET_MASK]: 1,
    n: { m: SECRET_MASK },
  })
})

test('without a secret nothing changes', () => {
  const value = { a: [1, 'b', null, true] }
  expect(createSecretMask([null, undefined, '']).json(value)).toEqual(value)
})

test('the signing part of a webhook secret is masked without its prefix too', () => {
  expect(createSecretMask(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']).text('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toBe(
    SECRET_MASK,
  )
})
