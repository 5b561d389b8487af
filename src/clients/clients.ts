import { z } from 'zod'
import { audit } from '../audit/append.ts'
import { conflict } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { jsonObject } from '../http/judge.ts'
import { type Client, dropHandles, findClient, insertClient, takeHandle, updateClient } from './client-rows.ts'
import { comparable, handle } from './handles.ts'

/** Blank is no name. */
export const displayName = z
  .string()
  .trim()
  .max(200)
  .transform((name) => name || null)

export const ClientInput = z.object({
  display_name: displayName.nullish(),
  handles: z.array(handle).max(50).optional(),
  metadata: jsonObject.optional(),
})

type ClientInput = z.infer<typeof ClientInput>

export function createClient(ctx: Ctx, scope: ProjectScope, input: ClientInput): Promise<Client> {
  return inTx(ctx, async (tx) => {
    const client = newClient(tx, scope.projectId, input)
    await insertClient(tx.db, client)
    const handles = await takeHandles(tx, client, input.handles ?? [])
    await audit(tx, scope.projectId, scope.actor, 'client.created', client.id)
    return { ...client, handles }
  })
}

/** Replaces what is given and leaves the rest. */
export function changeClient(ctx: Ctx, scope: ProjectScope, was: Client, input: ClientInput): Promise<Client> {
  const { handles, display_name, metadata } = input
  return inTx(ctx, async (tx) => {
    await updateClient(tx.db, was.id, {
      updated_at: isoNow(tx),
      ...(display_name !== undefined && { display_name }),
      ...(metadata !== undefined && { metadata }),
    })
    if (handles) {
      await dropHandles(tx.db, was.id)
      await takeHandles(tx, was, handles)
    }
    const client = await findClient(tx.db, [scope.projectId], was.id)
    if (!client) throw new Error(`client ${was.id} is gone`)
    await audit(tx, scope.projectId, scope.actor, 'client.updated', was.id, { fields: Object.keys(input) })
    return client
  })
}

/** The client that writes by this handle, made when nobody does. Of many first messages at once, one makes it. */
export async function clientOfHandle(
  tx: Tx,
  projectId: string,
  from: { handle: string; name?: string | null | undefined },
): Promise<{ id: string; isNew: boolean }> {
  const client = newClient(tx, projectId, { display_name: from.name })
  const owner = await takeHandle(tx.db, {
    project_id: projectId,
    handle: comparable(from.handle),
    shown: from.handle,
    client_id: client.id,
  })
  const isNew = owner === client.id
  if (isNew) await insertClient(tx.db, client)
  return { id: owner, isNew }
}

function newClient(tx: Tx, projectId: string, input: ClientInput): Client {
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

/** Taken in one order by everybody, so two that want the same ones do not wait for each other. */
async function takeHandles(tx: Tx, client: Client, shown: readonly string[]): Promise<string[]> {
  const wanted = new Map(shown.map((handle) => [comparable(handle), handle]))
  const inOrder = [...wanted].toSorted(([a], [b]) => (a < b ? -1 : 1))
  for (const [handle, shown] of inOrder) {
    const owner = await takeHandle(tx.db, { project_id: client.project_id, handle, shown, client_id: client.id })
    if (owner !== client.id) throw conflict(`handle '${shown}' is already in use`)
  }
  return inOrder.map(([, handle]) => handle)
}
