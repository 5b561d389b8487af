import { audit } from '../audit/append.ts'
import { notFound } from '../base/problem.ts'
import { newToken, tokenHash, tokenHint } from '../base/tokens.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { Actor, ProjectScope, Role } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { deleteKey, insertKey, type Key } from './credential-rows.ts'
import { keyBell } from './revoked-bells.ts'

/** The roles that a key can have. Who makes keys is an admin at least, so no key is above its maker. */
export const KEY_ROLES = ['viewer', 'operator', 'admin'] as const satisfies Role[]

/** The token is in this answer and nowhere else. */
export async function createKey(
  ctx: Ctx,
  scope: ProjectScope,
  { name, role }: { name: string; role: Role },
): Promise<{ key: Key; token: string }> {
  const token = newToken('founderKey', ctx.world.random)
  const key = await inTx(ctx, (tx) => addKey(tx, scope.actor, scope.projectId, { name, role, token }))
  if (!key) throw new Error('a new token was in the store already')
  return { key, token }
}

/** Null when the token is a key already. */
export async function addKey(
  tx: Tx,
  actor: Actor,
  projectId: string,
  { name, role, token }: { name: string; role: Role; token: string },
): Promise<Key | null> {
  const key: Key = {
    id: tx.world.newId('key'),
    project_id: projectId,
    name,
    role,
    hash: tokenHash(token),
    hint: tokenHint(token),
    created_at: isoNow(tx),
    last_used_at: null,
  }
  if (!(await insertKey(tx.db, key))) return null
  await audit(tx, projectId, actor, 'key.created', key.id, { name, role })
  return key
}

/** Ends the streams that it opened as well. */
export async function revokeKey(ctx: Ctx, scope: ProjectScope, key: Key): Promise<void> {
  await inTx(ctx, async (tx) => {
    if (!(await deleteKey(tx.db, key.id))) throw notFound('key')
    tx.ring(keyBell(key.id))
    await audit(tx, scope.projectId, scope.actor, 'key.deleted', key.id, { name: key.name })
  })
}
