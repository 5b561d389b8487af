import { lockProject } from '../../identity/organisations/project-rows.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { conflict, notFound } from '../../platform/base/problem.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { Actor, ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { queueWebhookDeliveries } from '../../work/events/webhook-events.ts'
import type { ConnectionToolRow } from '../../platform/store/tables.ts'
import { type Connection, findConnection } from '../connection/rows.ts'
import type { McpToolOffer } from './offered-tools.ts'
import { deleteToolRow, findToolRow, listToolRows, updateToolClass, upsertToolRow } from './tool-rows.ts'

/** What differs between the stored tools and the offered ones, by name. */
interface ToolChanges {
  added: McpToolOffer[]
  changed: McpToolOffer[]
  removed: ConnectionToolRow[]
}

/**
 * Stores the tools that the server offers. New and changed ones are off until an admin confirms them, and tools that are
 * gone are removed. Returns the stored tools.
 */
export async function syncTools(
  ctx: Ctx,
  connection: Connection,
  offered: readonly McpToolOffer[],
  actor: Actor = { kind: 'system', id: 'mcp' },
): Promise<ConnectionToolRow[]> {
  const stored = await listToolRows(ctx.db, connection.id)
  if (isEmpty(compareTools(stored, offered))) return stored
  return inTx(ctx, async (tx) => {
    await lockProject(tx.db, connection.project_id)
    if (!(await findConnection(tx.db, connection.id))) throw notFound('connection')
    await storeChanges(tx, connection, offered, actor)
    return listToolRows(tx.db, connection.id)
  })
}

async function storeChanges(
  tx: Tx,
  connection: Connection,
  offered: readonly McpToolOffer[],
  actor: Actor,
): Promise<void> {
  const stored = await listToolRows(tx.db, connection.id)
  const changes = compareTools(stored, offered)
  // Another call has stored the same.
  if (isEmpty(changes)) return
  const toRow = (tool: McpToolOffer, state: 'new' | 'changed'): ConnectionToolRow => ({
    connection_id: connection.id,
    name: tool.name,
    description: tool.description,
    input_schema: JSON.stringify(tool.inputSchema),
    annotations: JSON.stringify(tool.annotations),
    hash: tool.hash,
    class: 'off',
    state,
    position: offered.indexOf(tool),
    updated_at: isoNow(tx),
  })
  for (const tool of changes.added) await upsertToolRow(tx.db, toRow(tool, 'new'))
  for (const tool of changes.changed) {
    const wasConfirmed = stored.some(({ name, state }) => name === tool.name && state !== 'new')
    await upsertToolRow(tx.db, toRow(tool, wasConfirmed ? 'changed' : 'new'))
  }
  for (const row of changes.removed) await deleteToolRow(tx.db, row)
  const data = { new: names(changes.added), changed: names(changes.changed), removed: names(changes.removed) }
  await queueWebhookDeliveries(tx, connection.project_id, 'connection.tools_changed', connection.id)
  await appendAuditEntry(tx, connection.project_id, actor, 'connection.tools_changed', connection.id, data)
}

const names = (tools: readonly { name: string }[]): string[] => tools.map(({ name }) => name)

function compareTools(stored: readonly ConnectionToolRow[], offered: readonly McpToolOffer[]): ToolChanges {
  const hashes = new Map(stored.map(({ name, hash }) => [name, hash]))
  const present = new Set(names(offered))
  return {
    added: offered.filter(({ name }) => !hashes.has(name)),
    changed: offered.filter(({ name, hash }) => hashes.has(name) && hashes.get(name) !== hash),
    removed: stored.filter(({ name }) => !present.has(name)),
  }
}

const isEmpty = ({ added, changed, removed }: ToolChanges): boolean =>
  added.length + changed.length + removed.length === 0

/** Gives a tool its class, which confirms it. `hash`: the version that the admin saw. */
export async function classifyTool(
  ctx: Ctx,
  scope: ProjectScope,
  connection: Connection,
  choice: { name: string; class: ConnectionToolRow['class']; hash?: string | undefined },
): Promise<ConnectionToolRow> {
  return inTx(ctx, async (tx) => {
    const row = await findToolRow(tx.db, connection.id, choice.name)
    if (!row) throw notFound('tool')
    const changes = { class: choice.class, updated_at: isoNow(tx) }
    const isSeen = choice.hash === undefined || choice.hash === row.hash
    if (!isSeen || !(await updateToolClass(tx.db, row, changes))) {
      throw conflict(`tool '${row.name}' was changed at the same time: read it again`)
    }
    const data = { tool: row.name, class: choice.class, hash: row.hash }
    await appendAuditEntry(tx, connection.project_id, scope.actor, 'connection.tool_confirmed', connection.id, data)
    return { ...row, ...changes, state: 'confirmed' }
  })
}
