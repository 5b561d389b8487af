import { isJsonObject, type JsonObject } from '../../platform/base/json.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { type Connection, updateConnectionIfUnchanged } from '../connection/rows.ts'
import { pinnedIssuer } from './auth-config.ts'

/** Why nothing secret of the connection may be sent to this issuer, or null. */
export function findIssuerProblem({ name, config }: Connection, issuer: string | undefined): string | null {
  const pinned = pinnedIssuer(config)
  if (pinned === null || issuer === undefined || issuer === pinned) return null
  return `connection '${name}' is authorised at the issuer '${pinned}', not at '${issuer}': if the change is right, set config.auth.issuer to the new issuer`
}

/** Writes the issuer of the first authorisation into the config. The caller holds the lock of the project. */
export async function pinIssuer(tx: Tx, connection: Connection, issuer: string | undefined): Promise<void> {
  const { auth } = connection.config
  if (issuer === undefined || !isJsonObject(auth) || auth.type !== 'mcp' || pinnedIssuer(connection.config)) return
  const config = { ...connection.config, auth: { ...auth, issuer } }
  await updateConnectionIfUnchanged(tx.db, connection, { config, updated_at: isoNow(tx) })
}

/** The new config with the issuer of the earlier one, unless it names one, clears it with null, or has another URL. */
export function keepIssuer(before: JsonObject, after: JsonObject): JsonObject {
  const issuer = pinnedIssuer(before)
  const { auth, url } = after
  if (issuer === null || !isJsonObject(auth) || auth.type !== 'mcp') return after
  if (auth.issuer !== undefined || url !== before.url) return after
  return { ...after, auth: { ...auth, issuer } }
}
