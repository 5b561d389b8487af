import { z } from 'zod'
import { appendAuditEntry } from '../../audit/append.ts'
import { conflict } from '../../platform/base/problem.ts'
import { type ClientMessage, type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import { normalizeHandle } from './handles.ts'
import {
  type ClientWithHandles,
  claimHandle,
  deleteHandles,
  deleteOtherUnverifiedHandles,
  findClient,
  insertClient,
  updateClient,
  updateMissingName,
} from './rows.ts'

/** The address or name of a client on a channel. */
export const clientHandle = z.string().trim().min(1).max(320)

/** A blank name is stored as null. */
export const clientDisplayName = z
  .string()
  .trim()
  .max(200)
  .transform((name) => name || null)

export const ClientInput = z.object({
  display_name: clientDisplayName.nullish(),
  handles: z.array(clientHandle).max(50).optional(),
  metadata: jsonObject.optional(),
})

type ClientInput = z.infer<typeof ClientInput>

export function createClient(ctx: Ctx, scope: ProjectScope, input: ClientInput): Promise<ClientWithHandles> {
  return inTx(ctx, async (tx) => {
    const client = newClient(tx, scope.projectId, input)
    await insertClient(tx.db, client)
    const handles = await claimHandles(tx, client, input.handles ?? [])
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'client.created', client.id)
    return { ...client, handles }
  })
}

/** Replaces the fields that are given. */
export function changeClient(
  ctx: Ctx,
  scope: ProjectScope,
  was: ClientWithHandles,
  input: ClientInput,
): Promise<ClientWithHandles> {
  const { handles, display_name, metadata } = input
  return inTx(ctx, async (tx) => {
    await updateClient(tx.db, was.id, {
      updated_at: isoNow(tx),
      ...(display_name !== undefined && { display_name }),
      ...(metadata !== undefined && { metadata }),
    })
    if (handles) {
      await deleteHandles(tx.db, was.id)
      await claimHandles(tx, was, handles)
    }
    const client = await findClient(tx.db, [scope.projectId], was.id)
    if (!client) throw new Error(`client ${was.id} does not exist`)
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'client.updated', was.id, { fields: Object.keys(input) })
    return client
  })
}

/**
 * Finds the client with the handle of a sender, or creates it. Concurrent first messages of one sender create one client. A
 * mail that is probably forged does not take an address from the client that typed it.
 */
export async function findOrCreateClient(
  tx: Tx,
  projectId: string,
  { from, senderProof }: Pick<ClientMessage, 'from' | 'senderProof'>,
): Promise<{ id: string; isNew: boolean }> {
  const client = newClient(tx, projectId, { display_name: from.name })
  const handle = { project_id: projectId, handle: normalizeHandle(from.handle), shown: from.handle }
  const row = { ...handle, client_id: client.id, is_verified: 1 } as const
  const owner = await claimHandle(tx.db, row, senderProof !== 'failed')
  const isNew = owner === client.id
  if (isNew) await insertClient(tx.db, client)
  return { id: owner, isNew }
}

/**
 * Keeps the name and the mail address that a client typed. Nobody has checked the address: it stays with the client that has
 * it already, and the first message that really comes from it goes to a client of its own.
 */
export async function addClaimedContact(
  tx: Tx,
  { id, projectId }: { id: string; projectId: string },
  { name, address }: { name: string | null; address: string },
): Promise<void> {
  const handle = { project_id: projectId, handle: normalizeHandle(address), shown: address }
  const owner = await claimHandle(tx.db, { ...handle, client_id: id, is_verified: 0 })
  // The address that was typed last corrects an earlier one.
  if (owner === id) await deleteOtherUnverifiedHandles(tx.db, { client_id: id, handle: handle.handle })
  if (name !== null) await updateMissingName(tx.db, { id, display_name: name, now: isoNow(tx) })
}

function newClient(tx: Tx, projectId: string, input: ClientInput): ClientWithHandles {
  const now = isoNow(tx)
  return {
    id: tx.world.newId('cli'),
    project_id: projectId,
    display_name: input.display_name ?? null,
    handles: [],
    metadata: input.metadata ?? {},
    created_at: now,
    updated_at: now,
  }
}

/** Handles are claimed in sorted order, so two requests for the same handles cannot deadlock. */
async function claimHandles(tx: Tx, client: ClientWithHandles, shown: readonly string[]): Promise<string[]> {
  const wanted = new Map(shown.map((handle) => [normalizeHandle(handle), handle]))
  const inOrder = [...wanted].toSorted(([a], [b]) => (a < b ? -1 : 1))
  for (const [handle, shown] of inOrder) {
    const owner = await claimHandle(tx.db, {
      project_id: client.project_id,
      handle,
      shown,
      client_id: client.id,
      is_verified: 1,
    })
    if (owner !== client.id) throw conflict(`handle '${shown}' is already in use`)
  }
  return inOrder.map(([, handle]) => handle)
}
