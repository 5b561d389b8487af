import { appendAuditEntry } from '../../audit/append.ts'
import { tokenHash } from '../../platform/base/tokens.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { deleteNoticeOptOut, findNoticeToken, insertNoticeOptOut } from './notice-rows.ts'

/** Stops the mails to the client of an unsubscribe link. False for an unknown token. */
export async function unsubscribeByToken(ctx: Ctx, token: string): Promise<boolean> {
  const [found] = await findNoticeToken(ctx.db, { hash: tokenHash(token) })
  if (!found) return false
  const { project_id, client_id } = found
  await changeNotices(ctx, { projectId: project_id, clientId: client_id }, { kind: 'client', id: client_id }, false)
  return true
}

/** Whether the client wants mails about answers. */
export async function changeNotices(
  ctx: Ctx,
  { projectId, clientId }: { projectId: string; clientId: string },
  actor: Actor,
  enabled: boolean,
): Promise<void> {
  await inTx(ctx, async (tx) => {
    const row = { client_id: clientId, project_id: projectId, at: isoNow(tx) }
    const isChanged = enabled ? await deleteNoticeOptOut(tx.db, clientId) : await insertNoticeOptOut(tx.db, row)
    if (!isChanged) return
    await appendAuditEntry(tx, projectId, actor, enabled ? 'notices.enabled' : 'notices.disabled', clientId)
  })
}
