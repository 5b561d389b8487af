import { expect, test } from 'vitest'
import { listDatabaseServers, readDatabaseUrl } from '../../../src/platform/contract/database-url.ts'

test.each([
  ['postgres://svc:p%40ss@db:5432/svc', ['postgres://svc:p%40ss@db:5432/svc']],
  ['postgres://svc@/svc?host=/run/postgresql', ['postgres://svc@/svc?host=/run/postgresql']],
  [
    'postgresql://svc:p@one:5432,two:5433,[::1]/svc?sslmode=require',
    [
      'postgresql://svc:p@one:5432/svc?sslmode=require',
      'postgresql://svc:p@two:5433/svc?sslmode=require',
      'postgresql://svc:p@[::1]/svc?sslmode=require',
    ],
  ],
  [
    'postgres://svc@localhost/svc?host=one,two&port=5432,5433',
    ['postgres://svc@localhost/svc?host=one&port=5432', 'postgres://svc@localhost/svc?host=two&port=5433'],
  ],
  [
    'postgres://svc@/svc?host=one,two&port=6432',
    ['postgres://svc@/svc?host=one&port=6432', 'postgres://svc@/svc?host=two&port=6432'],
  ],
])('the servers of %s have a URL each', (url, servers) => {
  expect(readDatabaseUrl({ DATABASE_URL: url })).toBe(url)
  expect(listDatabaseServers(url)).toEqual(servers)
})

test('a URL with a host that cannot be read is refused', () => {
  expect(() => readDatabaseUrl({ DATABASE_URL: 'postgres://svc@one:5432,two:port/svc' })).toThrow('cannot be read')
})

test.each(['standby', 'read-only', 'prefer-standby', 'any'])('target_session_attrs=%s is refused', (value) => {
  const url = `postgres://svc@one,two/svc?target_session_attrs=${value}`
  expect(() => readDatabaseUrl({ DATABASE_URL: url })).toThrow(
    'target_session_attrs in DATABASE_URL must be read-write',
  )
})
