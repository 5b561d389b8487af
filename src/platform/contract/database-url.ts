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
  if (!listDatabaseServers(url).every((server) => URL.canParse(server.replace('@/', '@localhost/')))) {
    throw new Error(
      'DATABASE_URL cannot be read: in a name or password write @ as %40, / as %2F, : as %3A and # as %23',
    )
  }
  const attributes = new URLSearchParams(splitUrl(url).query).get('target_session_attrs')
  if (attributes !== null && !['read-write', 'primary'].includes(attributes))
    throw new Error('target_session_attrs in DATABASE_URL must be read-write: the service writes to its database')
  return url
}

/**
 * The servers of a URL, as a URL for each. A URL with several servers is written as libpq, the library of psql, reads it:
 * `postgres://user@first:5432,second:5432/name`, or with the hosts and ports in the query.
 */
export function listDatabaseServers(url: string): string[] {
  const { start, authority, path, query } = splitUrl(url)
  const parameters = new URLSearchParams(query)
  const hosts = parameters.get('host')?.split(',')
  if (!hosts || hosts.length === 1) return authority.split(',').map((host) => `${start}${host}${path}${query}`)
  const ports = parameters.get('port')?.split(',') ?? []
  return hosts.map((host, n) => {
    const own = new URLSearchParams(query)
    own.set('host', host)
    const port = ports[n] ?? ports[0]
    if (port !== undefined) own.set('port', port)
    return `${start}${authority}${path}?${own.toString()}`
  })
}

function splitUrl(url: string) {
  const [, start = '', authority = '', path = '', query = ''] =
    /^([a-z]+:\/\/(?:[^/?]*@)?)([^/?]*)([^?]*)(.*)$/s.exec(url) ?? []
  return { start, authority, path, query }
}
