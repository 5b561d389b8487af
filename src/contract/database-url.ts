import { readSetting } from './settings.ts'

const SUPPORTED_STORES = 'the store is PostgreSQL, or SQLite when it is not set'

/** The URL of PostgreSQL; null for SQLite. Errors never contain the URL, because it may contain a password. */
export function readDatabaseUrl(env: Record<string, string | undefined>): string | null {
  const url = readSetting(env, 'DATABASE_URL')
  if (!url) return null
  if (!/^postgres(ql)?:\/\//.test(url)) {
    const scheme = /^[a-z][a-z\d+.-]*:(\/\/)?/i.exec(url)?.[0]
    const actual = scheme && /^[a-z\d+.-]{1,20}:\/\/$/i.test(scheme) ? `, not ${scheme}…` : ''
    throw new Error(`DATABASE_URL must be postgres://user:password@host:5432/name${actual}: ${SUPPORTED_STORES}`)
  }
  // A URL with a Unix socket has an empty host, which the URL parser refuses.
  if (!URL.canParse(url.replace('@/', '@localhost/'))) {
    throw new Error(
      'DATABASE_URL cannot be read: in a name or password write @ as %40, / as %2F, : as %3A and # as %23',
    )
  }
  return url
}
