import { saveSecret } from '../../../api/connection-queries.ts'
import { callOperation } from '../../../api/http.ts'
import type { Connection } from '../../../api/setup-queries.ts'
import type { JsonObject, Schemas } from '../../../api/types.ts'
import { openAuthorisation } from '../open-authorisation.ts'
import { readAuth } from './auth-types.ts'
import type { CatalogueEntry } from './catalogue.ts'
import { chosenAuth, type ConnectionDraft } from './details-step.tsx'
import { readFields, readParams } from './entry-fields.ts'

/** What the service warns about is known when it has stored the config. */
export type StoredConnection = Connection & { warnings?: string[] }

/**
 * Creates or changes the connection and stores its secret. `onStored` is called before the secret is sent,
 * because the connection exists even if the secret is refused.
 */
export async function saveConnection(
  entry: CatalogueEntry,
  draft: ConnectionDraft,
  saved: Connection | null,
  onStored: (connection: StoredConnection | null) => void,
): Promise<StoredConnection> {
  if (entry.toolkit !== null) return connectApp(entry.toolkit, saved)
  const stored = await storeConnection(entry, draft, saved, () => onStored(null))
  onStored(stored)
  return draft.secret === '' ? stored : { ...stored, ...(await saveSecret(stored.id, draft.secret)) }
}

async function storeConnection(
  entry: CatalogueEntry,
  draft: ConnectionDraft,
  saved: Connection | null,
  onDeleted: () => void,
): Promise<StoredConnection> {
  const name = draft.name.trim()
  if (entry.isExisting && saved) {
    const added = readFields(entry.fields, draft.values)
    return entry.fields.length === 0 ? saved : update(saved.id, { config: { ...saved.config, ...added } })
  }
  if (entry.preset !== null) {
    // The parameters of a preset cannot be changed later, so the connection that this dialog created is replaced.
    if (saved) await callOperation('deleteConnection', { id: saved.id }).then(onDeleted)
    return create({ preset: entry.preset, name, params: readParams(entry.fields, draft.values) })
  }
  const config = readConfig(entry, draft)
  return saved ? update(saved.id, { name, config }) : create({ kind: entry.kind, name, config })
}

const create = (body: Schemas.CreateConnectionRequest) => callOperation('createConnection', { body })

const update = (id: string, body: Schemas.UpdateConnectionRequest) => callOperation('updateConnection', { id, body })

function readConfig(entry: CatalogueEntry, draft: ConnectionDraft): JsonObject {
  const authType = chosenAuth(entry, draft)
  const auth = authType && readAuth(authType, draft.values)
  return { ...readFields(entry.fields, draft.values), ...(auth && { auth }) }
}

/** The broker creates the connection; the person allows access on the provider's page. */
async function connectApp(toolkit: string, saved: Connection | null): Promise<Connection> {
  const authorisation = await (saved
    ? callOperation('connectAccount', { id: saved.id, body: {} })
    : callOperation('connectToolkit', { toolkit, body: {} }))
  openAuthorisation(authorisation)
  return callOperation('getConnection', { id: authorisation.connection_id })
}
