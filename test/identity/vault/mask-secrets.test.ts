import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSecretMask, SECRET_MASK } from '../../../src/identity/vault/mask-secrets.ts'

const SECRET = 'sk_live_c4n4ry+/=&"x'

const spellings: Record<string, string> = {
  'in plain text': SECRET,
  'in a url': encodeURIComponent(SECRET),
  'in a form': new URLSearchParams({ k: SECRET }).toString(),
  'in json': JSON.stringify({ k: SECRET }),
  'in hex': Buffer.from(SECRET).toString('hex'),
  'in HEX': Buffer.from(SECRET).toString('hex').toUpperCase(),
}

const escaped = (text: string, characters: RegExp) =>
  text.replaceAll(characters, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)

const html = (text: string, more: Record<string, string>) => {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', ...more }
  return text.replaceAll(/[&<>"'/]/g, (one) => entities[one] ?? one)
}

test.each(Object.entries(spellings))('a secret %s is masked', (_, text) => {
  const masked = createSecretMask([SECRET]).text(`before ${text} after`)
  expect(masked).toContain(SECRET_MASK)
  expect(masked).not.toContain(text)
})

test.each([
  [
    'in a url with lower-case hex digits',
    (text: string) => encodeURIComponent(text).replaceAll(/%../g, (hex) => hex.toLowerCase()),
  ],
  ['in json with escaped slashes', (text: string) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/')],
  ['in json that is safe inside html', (text: string) => escaped(JSON.stringify(text).slice(1, -1), /[&<>'+=]/g)],
  [
    'in json that is safe inside html, with upper-case hex digits',
    (text: string) =>
      escaped(text, /[&<>'"+=/]/g)
        .toUpperCase()
        .replaceAll('\\U', '\\u'),
  ],
  ['in html', (text: string) => html(text, { "'": '&#39;' })],
  ['in html with numeric entities', (text: string) => html(text, { "'": '&#x27;', '"': '&#34;', '/': '&#x2F;' })],
  ['in html with three-digit entities', (text: string) => html(text, { "'": '&#039;' })],
])('a secret %s is masked completely', (_, spell) => {
  // In capitals, because one of the spellings converts everything to capitals.
  const secret = 'CANARY/5ECRET&<VALUE>\'X"+Y\\Z=='
  expect(createSecretMask([secret]).text(`before ${spell(secret)} after`)).toBe(`before ${SECRET_MASK} after`)
})

test.each(['canary-5ecret ', ' canary-5ecret', '\tcanary-5ecret  '])(
  'the secret %j is masked also without its surrounding spaces',
  (secret) => {
    const mask = createSecretMask([secret])
    expect(mask.text('Bearer canary-5ecret')).toBe(`Bearer ${SECRET_MASK}`)
    expect(mask.text(Buffer.from('Bearer canary-5ecret').toString('base64'))).toContain(SECRET_MASK)
  },
)

test.each([
  ['spaces encoded as in a form', 'my c4n4ry', 'my+c4n4ry'],
  ['a surrogate pair across the start pattern', 'c4n4r😀/x', 'c4n4r%F0%9F%98%80%2Fx'],
  ['a surrogate pair in json', 'c4n4r😀/x', 'c4n4r\\ud83d\\ude00\\/x'],
])('a text that is only the secret, with %s, is masked', (_, secret, text) => {
  expect(createSecretMask([secret]).text(text)).toBe(SECRET_MASK)
})

test('a short secret is masked in plain text only, and spaces are not a secret', () => {
  expect(createSecretMask(['a/b ']).text('a/b a%2Fb a\\/b')).toBe(`${SECRET_MASK} a%2Fb a\\/b`)
  expect(createSecretMask([' a/b']).text('is a/b')).toBe(`is ${SECRET_MASK}`)
  expect(createSecretMask(['whsec_', '   ']).text('unchanged')).toBe('unchanged')
})

test('a secret of the maximum length is masked in a body of the maximum length', () => {
  const secret = '&\\%'.repeat(20_000)
  const body = `${'&amp;\\\\%25'.repeat(20_000)} and ${'\\&%'.repeat(20_000)}`
  expect(createSecretMask([secret]).text(body)).toBe(`${SECRET_MASK} and ${'\\&%'.repeat(20_000)}`)
})

test('a secret inside base64 is masked at every position', () => {
  const around = fc.string({ minLength: 0, maxLength: 12 })
  fc.assert(
    fc.property(around, around, fc.constantFrom('base64', 'base64url'), (before, after, encoding) => {
      const text = Buffer.from(before + SECRET + after).toString(encoding)
      const masked = createSecretMask([SECRET]).text(text)
      expect(masked).toContain(SECRET_MASK)
      // Only characters that depend on the neighbouring bytes may remain.
      expect(masked.length).toBeLessThan(
        text.length - Buffer.from(SECRET).toString('base64').length + SECRET_MASK.length + 8,
      )
    }),
  )
})

test('secrets are masked in json keys, values and numbers, with any escapes', () => {
  const value = JSON.parse(`{"a":["x \\u0073k_123456 y"],"sk_123456":1,"n":{"m":123456789}}`)
  expect(createSecretMask(['sk_123456', '123456789']).json(value)).toEqual({
    a: [`x ${SECRET_MASK} y`],
    [SECRET_MASK]: 1,
    n: { m: SECRET_MASK },
  })
})

test('without a secret the text stays unchanged', () => {
  const value = { a: [1, 'b', null, true] }
  expect(createSecretMask([null, undefined, '']).json(value)).toEqual(value)
})

test('a webhook secret is masked also without its whsec_ prefix', () => {
  expect(createSecretMask(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']).text('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toBe(
    SECRET_MASK,
  )
})
