interface NamedConnection {
  name: string
  kind: string
  status: string
  has_secret: boolean
}

/** A run refuses a connection without its credential like one that does not exist; a webhook must also be signed. */
const isUsable = ({ kind, status, has_secret }: NamedConnection): boolean =>
  status === 'connected' && (kind !== 'webhook' || has_secret)

/** The names that no usable connection has, each with the connection that lacks its credential, or null if there is none. */
export function listUnusable<Connection extends NamedConnection>(
  names: readonly string[],
  connections: readonly Connection[],
): { name: string; connection: Connection | null }[] {
  return names.flatMap((name) => {
    const named = connections.filter((connection) => connection.name === name)
    return named.some(isUsable) ? [] : [{ name, connection: named[0] ?? null }]
  })
}
