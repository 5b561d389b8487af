import { readSetting } from './settings.ts'

const SUPPORTED_STORES = 'the store is PostgreSQL, or SQLite where it is not set'

/** Where PostgreSQL is; null for SQLite. Judged before anything is touched, and never repeated: it may hold a password. */
export function readDatabaseUrl(env: Record<string, string | undefined>): string | null {
  const url = readSetting(env, 'DATABASE_URL')
  if (!url) return null
  if (!/^postgres(ql)?:\/\//.test(url)) {
    const scheme = /^[a-z][a-z\d+.-]*:(\/\/)?/i.exec(url)?.[0]
    const unlike = scheme && /^[a-z\d+.-]{1,20}:\/\/$/i.test(scheme) ? `, not ${scheme}…` : ''
    throw new Error(`DATABASE_URL must be postgres://user:password@host:5432/name${unlike}: ${SUPPORTED_STORES}`)
  }
  // A socket is named behind an empty host, which is no URL by the book.
  if (!URL.canParse(url.replace('@/', '@localhost/'))) {
    throw new Error(
      'DATABASE_URL cannot be read: in a name or password write @ as %40, / as %2F, : as %3A and # as %23',
    )
  }
  return url
}
