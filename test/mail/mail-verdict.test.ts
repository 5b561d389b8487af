import { describe, expect, test } from 'vitest'
import { isFailedVerdict, readAuthenticationResults } from '../../src/customers/channels/mail/mail-verdict.ts'

const read = (...values: string[]) =>
  readAuthenticationResults(
    values.map((value) => ({ name: 'authentication-results', value })),
    'mx.shop.example',
  )

describe('the verdict in Authentication-Results', () => {
  test.each([
    [
      'a header of Gmail',
      'mx.shop.example; dkim=pass header.i=@example.com header.s=a; spf=pass (mx.shop.example: domain of kim@example.com designates 192.0.2.1 as permitted sender) smtp.mailfrom=kim@example.com; dmarc=pass (p=REJECT sp=REJECT dis=NONE) header.from=example.com',
      ['pass', 'pass', 'pass'],
    ],
    ['a version behind the name', 'MX.shop.example 1; spf=fail smtp.mailfrom=example.com', ['fail', 'none', 'none']],
    [
      'a comment with results',
      'mx.shop.example; spf=fail (; spf=pass; dkim=pass) smtp.mailfrom=a; dkim=neutral',
      ['fail', 'neutral', 'none'],
    ],
    [
      'a nested comment',
      'mx.shop.example; spf=softfail (a (b; dmarc=pass) c; dkim=pass)',
      ['softfail', 'none', 'none'],
    ],
    [
      'a quoted string with results',
      'mx.shop.example; spf=pass smtp.mailfrom="x; dmarc=pass \\"; dkim=pass"@evil.example; dmarc=fail',
      ['pass', 'none', 'fail'],
    ],
    [
      'a property of the sender with results',
      'mx.shop.example; dkim=pass header.i=a;dmarc=pass@evil.example; dmarc=fail',
      ['none', 'pass', 'fail'],
    ],
    [
      'an address of the sender with results',
      'mx.shop.example; spf=pass smtp.mailfrom=a@b;x;dmarc=pass;dkim=pass; dkim=none',
      ['pass', 'none', 'none'],
    ],
    [
      'a header of Microsoft',
      'mx.shop.example; spf=pass (sender IP is 192.0.2.1) smtp.mailfrom=a.example; dkim=pass header.d=a.example;dmarc=pass action=none header.from=a.example;compauth=pass reason=100',
      ['pass', 'pass', 'pass'],
    ],
    ['two results of one check', 'mx.shop.example; dmarc=fail; spf=fail; dmarc=pass', ['fail', 'none', 'fail']],
    ['several signatures', 'mx.shop.example; dkim=fail; dkim=pass; dkim=none', ['none', 'pass', 'none']],
    ['an unknown result', 'mx.shop.example; spf=great; dmarc=passed', ['none', 'none', 'none']],
    ['no results', 'mx.shop.example; none', ['none', 'none', 'none']],
  ])('%s', (_, value, [spf, dkim, dmarc]) => {
    expect(read(value)).toEqual({ spf, dkim, dmarc, by: 'mx.shop.example' })
  })

  test('a header of another server does not count', () => {
    expect(read('mx.evil.example; spf=pass; dkim=pass; dmarc=pass')).toBeNull()
    expect(read('mx.shop.example.evil.example; dmarc=pass')).toBeNull()
    expect(read('mx.evil.example; mx.shop.example; dmarc=pass')).toBeNull()
  })

  test('a server may write a header for each check', () => {
    expect(read('mx.shop.example; dkim=pass', 'mx.shop.example; spf=pass', 'mx.shop.example; dmarc=pass')).toEqual({
      spf: 'pass',
      dkim: 'pass',
      dmarc: 'pass',
      by: 'mx.shop.example',
    })
  })

  test.each([
    ['above', ['mx.shop.example; dkim=fail; dmarc=fail', 'mx.shop.example; dkim=pass; dmarc=pass']],
    ['below', ['mx.shop.example; dkim=pass; dmarc=pass', 'mx.evil.example', 'mx.shop.example; dkim=fail; dmarc=fail']],
  ])('a check that failed in one header has failed, also with a pass %s it', (_, values) => {
    expect(read(...values)).toEqual({ spf: 'none', dkim: 'fail', dmarc: 'fail', by: 'mx.shop.example' })
  })

  test.each([
    ['an address in pieces', `mx.shop.example; spf=pass smtp.mailfrom=${';x'.repeat(500_000)}; dmarc=fail`],
    ['many addresses', `mx.shop.example; ${';smtp.mailfrom=a'.repeat(60_000)} ; spf=pass; dmarc=fail`],
  ])('%s in a header of a megabyte takes no longer', (_, value) => {
    expect(read(value)).toEqual({ spf: 'pass', dkim: 'none', dmarc: 'fail', by: 'mx.shop.example' })
  })
})

test.each([
  ['pass', 'pass', 'pass', false],
  ['fail', 'fail', 'pass', false],
  ['pass', 'pass', 'fail', true],
  ['fail', 'pass', 'none', false],
  ['pass', 'fail', 'none', false],
  ['fail', 'none', 'none', true],
  ['softfail', 'none', 'temperror', true],
  ['none', 'fail', 'none', true],
  ['neutral', 'none', 'none', false],
  ['none', 'none', 'none', false],
] as const)('SPF %s, DKIM %s and DMARC %s: failed is %s', (spf, dkim, dmarc, hasFailed) => {
  expect(isFailedVerdict({ spf, dkim, dmarc, by: 'mx.shop.example' })).toBe(hasFailed)
})
