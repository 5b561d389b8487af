import { describe, expect, test } from 'vitest'
import { resolveReadUrl } from '../../src/connections/calls/read-url.ts'

describe('the url of a read', () => {
  test.each([
    ['orders/1', 'https://api.test/v1/orders/1'],
    ['/orders/1', 'https://api.test/v1/orders/1'],
    ['', 'https://api.test/v1/'],
    ['?q=a/../b', 'https://api.test/v1/?q=a/../b'],
    ['orders?at=2026-01-01T00:00:00Z', 'https://api.test/v1/orders?at=2026-01-01T00:00:00Z'],
    ['a/../b', 'https://api.test/v1/b'],
    ['users/@me', 'https://api.test/v1/users/@me'],
    ['a%20b', 'https://api.test/v1/a%20b'],
    ['orders;v=1/7;open', 'https://api.test/v1/orders;v=1/7;open'],
  ])('the path %j becomes %s', (path, url) => {
    expect(resolveReadUrl('https://api.test/v1', path).href).toBe(url)
    expect(resolveReadUrl('https://api.test/v1/', path).href).toBe(url)
    expect(resolveReadUrl('https://api.test/v1?key=k#x', path).href).toBe(url)
  })

  test.each([
    'https://evil.test/',
    'HTTPS:evil.test',
    'http:/evil.test',
    'javascript:alert(1)',
    '//evil.test/x',
    '/\\evil.test/x',
    '\\\\evil.test/x',
    '\\evil.test',
    ' //evil.test',
    '\t//evil.test',
    '/\t/evil.test',
    'a b',
    'a\r\nhost: evil.test',
    'a\u0000b',
    'a#b',
    '..',
    '../',
    '../v2/x',
    '/../x',
    'a/../../x',
    '%2e%2e/x',
    '.%2E/x',
    '..%2fx',
    '%2e%2e%2fx',
    '%252e%252e%252fx',
    '%25252e%25252e%25252fx',
    'a/..%5c..%5cx',
    '../v1evil',
    '%zz',
    '..;/x',
    '..;a=b/x',
    'a/..;/..;/x',
    '%2e%2e;/x',
    '.%2e%3b/x',
    '..%253b/x',
    ';a/../x',
  ])('the path %j is 400', (path) => {
    expect(() => resolveReadUrl('https://api.test/v1', path)).toThrow(expect.objectContaining({ status: 400 }))
  })

  test('a base url without a path allows the whole origin and nothing else', () => {
    expect(resolveReadUrl('https://api.test', 'x').href).toBe('https://api.test/x')
    expect(() => resolveReadUrl('https://api.test', '../x')).toThrow()
  })
})
