import { appendAuditEntry } from '../audit/append.ts'
import { newToken, tokenHash } from '../base/tokens.ts'
import { projectAddress } from '../brand/public-brand.ts'
import { type Brand, findBrand } from '../brand/rows.ts'
import { portalUrl } from '../brand/view.ts'
import { findClient } from '../clients/rows.ts'
import { serviceUrl } from '../config/service-url.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoNow, toIsoTime } from '../ctx/world.ts'
import { noticeMail } from './mail-text.ts'
import {
  deleteNoticeOptOut,
  findNoticeOptOut,
  findNoticeToken,
  findUnreadAnswer,
  insertNoticeOptOut,
  insertNoticeToken,
  listUntoldThreads,
  type UntoldThread,
  updateThreadTold,
} from './notice-rows.ts'
import { mailAddressOf } from './request-link.ts'
import { sendServiceMail } from './service-mail.ts'

/** A client who is in the portal reads the answer within this time, and gets no mail. */
const NOTICE_DELAY_MS = 60_000
const THREADS_PER_ROUND = 50
const MAX_ANSWER_CHARACTERS = 2_000

/** Mails clients about answers that they have not read in the portal: one mail for all answers since the last one. */
export async function mailDueNotices(ctx: Ctx): Promise<void> {
  const quiet_since = toIsoTime(ctx.world.clock.now() - NOTICE_DELAY_MS)
  for (const thread of await listUntoldThreads(ctx.db, { quiet_since, limit: THREADS_PER_ROUND }))
    await decideAboutNotice(ctx, thread)
}

async function decideAboutNotice(ctx: Ctx, thread: UntoldThread): Promise<void> {
  const brand = await findBrand(ctx.db, thread.project_id)
  const notice = await findDueNotice(ctx, brand, thread)
  if (notice) await mailNotice(ctx, brand, thread, notice)
  // Also after a mail that could not be prepared, so that the next round does not find the thread again.
  await inTx(ctx, (tx) => updateThreadTold(tx.db, thread, thread.message_count))
}

interface DueNotice {
  to: string
  answer: string
}

async function findDueNotice(ctx: Ctx, brand: Brand, thread: UntoldThread): Promise<DueNotice | null> {
  const after = Math.max(thread.client_read_count, thread.client_told_count)
  const range = { thread_id: thread.id, after, to: thread.message_count, since: brand.notify_since ?? '' }
  const [answer] = await findUnreadAnswer(ctx.db, range)
  if (!answer || (await findNoticeOptOut(ctx.db, { client_id: thread.client_id })).length > 0) return null
  const client = await findClient(ctx.db, [thread.project_id], thread.client_id)
  const to = client && mailAddressOf(client)
  return to ? { to, answer: shorten(answer.body) } : null
}

async function mailNotice(ctx: Ctx, brand: Brand, thread: UntoldThread, { to, answer }: DueNotice): Promise<void> {
  const token = newToken('unsubscribe', ctx.world.random)
  const address = await projectAddress(ctx.db, brand.project_id)
  const urls = {
    portal: `${portalUrl(ctx.config, address)}&thread=${encodeURIComponent(thread.id)}`,
    unsubscribe: `${portalUrl(ctx.config, address)}&unsubscribe#${token}`,
  }
  const headers = {
    'Auto-Submitted': 'auto-generated',
    // Mail programs send a POST to this address when the person presses "unsubscribe" (RFC 8058).
    'List-Unsubscribe': `<${serviceUrl(ctx.config, `/v1/portal/unsubscribe?token=${token}`)}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  }
  const { project_id, client_id } = thread
  await sendServiceMail(ctx, brand, {
    clientId: client_id,
    payload: { to, ...noticeMail(brand, answer, urls), headers },
    async claim(tx) {
      if (!(await updateThreadTold(tx.db, thread, thread.message_count))) return false
      await insertNoticeToken(tx.db, { hash: tokenHash(token), project_id, client_id, created_at: isoNow(tx) })
      return true
    },
  })
}

const shorten = (text: string) =>
  text.length <= MAX_ANSWER_CHARACTERS ? text : `${text.slice(0, MAX_ANSWER_CHARACTERS).trimEnd()} …`

/** Stops the mails to the client of an unsubscribe link. An unknown token changes nothing, and the caller is not told. */
export async function unsubscribeByToken(ctx: Ctx, token: string): Promise<void> {
  const [found] = await findNoticeToken(ctx.db, { hash: tokenHash(token) })
  if (!found) return
  const { project_id, client_id } = found
  await changeNotices(ctx, { projectId: project_id, clientId: client_id }, { kind: 'client', id: client_id }, false)
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
