import { type SavedConnection, saveSecret } from '../../../api/connection-queries.ts'
import { callApi } from '../../../api/http.ts'
import type { BrokerAuthorisation, Connection } from '../../../api/setup-queries.ts'
import type { JsonObject } from '../../../api/types.ts'
import { showToast } from '../../../ui/toast.tsx'
import { openAuthorisation } from '../open-authorisation.ts'
import { readAuth } from './auth-types.ts'
import type { CatalogueEntry } from './catalogue.ts'
import { chosenAuth, type ConnectionDraft } from './details-step.tsx'
import { readFields } from './entry-fields.ts'
import { connectText } from './text.ts'

/** Creates or changes the connection and stores its secret. `onStored` is called before the secret is sent. */
export async function saveConnection(
  entry: CatalogueEntry,
  draft: ConnectionDraft,
  saved: Connection | null,
  onStored: (connection: Connection) => void,
): Promise<Connection> {
  if (entry.toolkit !== null) return connectApp(entry.toolkit, saved)
  const stored = await storeConnection(entry, draft, saved)
  onStored(stored)
  return draft.secret === '' ? stored : saveSecret(stored.id, draft.secret)
}

async function storeConnection(
  entry: CatalogueEntry,
  draft: ConnectionDraft,
  saved: Connection | null,
): Promise<Connection> {
  if (entry.isExisting && saved) return saved
  const name = draft.name.trim()
  if (entry.preset !== null) {
    // The parameters of a preset cannot be changed later, so the connection that this dialog created is replaced.
    if (saved) await callApi(`/v1/connections/${saved.id}`, { method: 'DELETE' })
    return create({ preset: entry.preset, name, params: readFields(entry.fields, draft.values) })
  }
  const config = readConfig(entry, draft)
  if (!saved) return create({ kind: entry.kind, name, config })
  const { warnings, ...changed } = await callApi<SavedConnection>(`/v1/connections/${saved.id}`, {
    method: 'PUT',
    body: { name, config },
  })
  showWarnings(warnings)
  return changed
}

async function create(body: JsonObject): Promise<Connection> {
  const { warnings, ...created } = await callApi<SavedConnection>('/v1/connections', { method: 'POST', body })
  showWarnings(warnings)
  return created
}

function showWarnings(warnings: string[]): void {
  for (const warning of warnings) showToast(connectText.warning(warning))
}

function readConfig(entry: CatalogueEntry, draft: ConnectionDraft): JsonObject {
  const authType = chosenAuth(entry, draft)
  const auth = authType && readAuth(authType, draft.values)
  return { ...readFields(entry.fields, draft.values), ...(auth && { auth }) }
}

/** The broker creates the connection; the person allows access on the provider's page. */
async function connectApp(toolkit: string, saved: Connection | null): Promise<Connection> {
  const path = saved ? `/v1/connections/${saved.id}/broker/connect` : `/v1/broker/toolkits/${toolkit}/connect`
  const authorisation = await callApi<BrokerAuthorisation>(path, { method: 'POST', body: {} })
  openAuthorisation(authorisation)
  return callApi<Connection>(`/v1/connections/${authorisation.connection_id}`)
}
