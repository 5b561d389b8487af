import { appendAuditEntry } from '../../audit/append.ts'
import { notFound } from '../../platform/base/problem.ts'
import { newToken, tokenHash, tokenHint } from '../../platform/base/tokens.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { Actor, ProjectScope, Role } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { deleteApiKey, insertApiKey, type ApiKey } from './credential-rows.ts'

/** The roles of keys. Creating keys needs the role admin, so a key never has a higher role than its creator. */
export const API_KEY_ROLES = ['viewer', 'operator', 'admin'] as const satisfies Role[]

/** Returns the token once. Only its hash is stored. */
export async function createApiKey(
  ctx: Ctx,
  scope: ProjectScope,
  { name, role }: { name: string; role: Role },
): Promise<{ key: ApiKey; token: string }> {
  const token = newToken('founderKey', ctx.world.random)
  const key = await inTx(ctx, (tx) => addApiKey(tx, scope.actor, scope.projectId, { name, role, token }))
  if (!key) throw new Error('a new API key has the token of an existing one')
  return { key, token }
}

/** Null when a key with this token exists. */
export async function addApiKey(
  tx: Tx,
  actor: Actor,
  projectId: string,
  { name, role, token }: { name: string; role: Role; token: string },
): Promise<ApiKey | null> {
  const key: ApiKey = {
    id: tx.world.newId('key'),
    project_id: projectId,
    name,
    role,
    hash: tokenHash(token),
    hint: tokenHint(token),
    created_at: isoNow(tx),
    last_used_at: null,
  }
  if (!(await insertApiKey(tx.db, key))) return null
  await appendAuditEntry(tx, projectId, actor, 'key.created', key.id, { name, role })
  return key
}

/** Also ends the streams that the key has opened. */
export async function revokeApiKey(ctx: Ctx, scope: ProjectScope, key: ApiKey): Promise<void> {
  await inTx(ctx, async (tx) => {
    if (!(await deleteApiKey(tx.db, key.id))) throw notFound('key')
    tx.publishAfterCommit({ topic: 'key-revoked', id: key.id })
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'key.deleted', key.id, { name: key.name })
  })
}
