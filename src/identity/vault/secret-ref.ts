import { badRequest } from '../../platform/base/problem.ts'

/** Where a connection's secret is stored: in an environment variable of the service, or encrypted in the vault. */
export type SecretRef = { in: 'env'; name: string } | { in: 'vault'; key: string }

/** Without a secret_ref the secret is in the vault, with the connection's id as its key. */
export function secretRefOf(connection: { id: string; secret_ref: string | null }): SecretRef {
  return connection.secret_ref === null ? { in: 'vault', key: connection.id } : parseSecretRef(connection.secret_ref)
}

/** Parses a secret_ref and refuses one that the connection may not use. A new connection has no id yet. */
export function requireSecretRef(text: string, envSecrets: readonly string[] | null, id: string | null): SecretRef {
  const ref = parseSecretRef(text)
  if (ref.in === 'vault' && isOtherConnectionsKey(ref.key, id)) {
    throw badRequest("field 'secret_ref' must not name another connection's secret")
  }
  if (ref.in === 'env' && !canReadEnv(ref.name, envSecrets)) {
    throw badRequest(`field 'secret_ref' must not name the environment variable '${ref.name}'`)
  }
  return ref
}

/** A vault key that is the id of a connection or a channel belongs to it alone; any other key may be shared. */
export const isOtherConnectionsKey = (key: string, id: string | null): boolean =>
  /^(?:conn|chan)_/.test(key) && key !== id

/** A connection must not read settings of the service or the system: its owner could send them to any address. */
export function canReadEnv(name: string, envSecrets: readonly string[] | null): boolean {
  const upper = name.toUpperCase()
  if (FORBIDDEN_ENV_NAMES.test(upper) || upper.endsWith('_PROXY')) return false
  return envSecrets === null || envSecrets.includes(name)
}

const FORBIDDEN_ENV_NAMES = /^(SVC_|BROKER_|DATABASE|PG|NODE_|ANTHROPIC_|OPENAI_|AWS_|OTEL_|PATH$|HOME$)/

function parseSecretRef(text: string): SecretRef {
  const [, store, name = ''] = /^(env|vault):(.*)$/s.exec(text) ?? []
  if (store === 'env' && /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) return { in: 'env', name }
  if (store === 'vault' && /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/.test(name)) return { in: 'vault', key: name }
  throw badRequest("field 'secret_ref' must be env:NAME or vault:KEY")
}
