import type { JsonObject } from '../../platform/base/json.ts'
import { listField } from '../../platform/base/json-fields.ts'
import { newToken, tokenHash } from '../../platform/base/tokens.ts'
import { projectAddress } from '../../customers/brand/public-brand.ts'
import { type Brand, findBrand } from '../../customers/brand/rows.ts'
import { portalUrl } from '../../customers/brand/view.ts'
import { findAdapter, toAdapterChannel } from '../../customers/channels/adapters/adapter-table.ts'
import { mailReply } from '../../customers/channels/mail/mail-reply.ts'
import { makeReplyAddress } from '../../customers/channels/mail/reply-address.ts'
import { findChannel } from '../../customers/channels/rows.ts'
import { threadReply } from '../../customers/channels/thread-reply.ts'
import { listClientHandles } from '../../customers/clients/rows.ts'
import { serviceUrl } from '../../platform/config/service-url.ts'
import { formatMailAddress, type MailAddress, parseMailAddress } from '../../connections/mail/mail-address.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { createLoop, type Loop } from '../../platform/ctx/loop.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import { StoreUnavailable } from '../../platform/store/errors.ts'
import type { ChannelRow } from '../../platform/store/tables.ts'
import { chatNoticeMail, noticeMail, type UnreadMessage } from './mail-text.ts'
import {
  findNoticeOptOut,
  findUnreadMessage,
  insertNoticeToken,
  listProjectsToNotify,
  listUnnotifiedThreads,
  type UnnotifiedThread,
  updateThreadNotified,
} from './notice-rows.ts'
import { sendServiceMail } from './service-mail.ts'

/** A client who is in the portal reads the answer within this time, and gets no mail. */
const NOTICE_DELAY_MS = 60_000
const THREADS_PER_ROUND = 50
const MAX_ANSWER_CHARACTERS = 2_000
const CHECK_INTERVAL_MS = 5_000

/** The projects whose mails are being sent, by id. */
export type RunningNotices = Map<string, Promise<void>>

/** Mails clients about answers that they have not read in the portal: one mail for all answers since the last one. */
export function createNoticeLoop(ctx: Ctx): Loop {
  const running: RunningNotices = new Map()
  const { clock, log } = ctx.world
  const loop = createLoop(
    clock,
    CHECK_INTERVAL_MS,
    () => startDueNotices(ctx, running),
    (err) => err instanceof StoreUnavailable || log.error({ err }, 'mails about answers failed'),
  )
  return {
    start: () => loop.start(),
    async stop() {
      await loop.stop()
      await Promise.all(running.values())
    },
  }
}

/** Starts the due mails of every project, side by side: a mail server that does not answer delays its own project only. */
export async function startDueNotices(ctx: Ctx, running: RunningNotices): Promise<void> {
  for (const { project_id } of await listProjectsToNotify(ctx.db, { quiet_since: quietSince(ctx) })) {
    if (running.has(project_id)) continue
    const ended = mailNoticesOf(ctx, project_id)
      .catch((err: unknown) => ctx.world.log.error({ err, project: project_id }, 'mails about answers failed'))
      .finally(() => running.delete(project_id))
    running.set(project_id, ended)
  }
}

const quietSince = (ctx: Ctx) => toIsoTime(ctx.world.clock.now() - NOTICE_DELAY_MS)

async function mailNoticesOf(ctx: Ctx, project_id: string): Promise<void> {
  const brand = await findBrand(ctx.db, project_id)
  const due = { project_id, quiet_since: quietSince(ctx), limit: THREADS_PER_ROUND }
  for (const thread of await listUnnotifiedThreads(ctx.db, due)) await decideAboutNotice(ctx, brand, thread)
}

async function decideAboutNotice(ctx: Ctx, brand: Brand, thread: UnnotifiedThread): Promise<void> {
  const channel = await findChannel(ctx.db, [thread.project_id], thread.channel_id)
  const notice = await findDueNotice(ctx, brand, thread, channel)
  if (notice) await mailNotice(ctx, brand, thread, notice)
  // Also after a mail that could not be prepared, so that the next round does not find the thread again.
  await inTx(ctx, (tx) => updateThreadNotified(tx.db, thread, thread.message_count))
}

interface DueNotice {
  to: string
  /** False: the client typed the address, which may belong to another person. */
  isProven: boolean
  unread: UnreadMessage
  /** The channel of the conversation, unless it was deleted. */
  channel: ChannelRow | undefined
}

async function findDueNotice(
  ctx: Ctx,
  brand: Brand,
  thread: UnnotifiedThread,
  channel: ChannelRow | undefined,
): Promise<DueNotice | null> {
  const after = Math.max(thread.client_read_count, thread.client_notified_count)
  const range = { thread_id: thread.id, after, to: thread.message_count, since: brand.notify_since ?? '' }
  const [message] = await findUnreadMessage(ctx.db, {
    ...range,
    is_shown_only: channel && isShownOnly(channel) ? 1 : 0,
  })
  if (!message || (await findNoticeOptOut(ctx.db, { client_id: thread.client_id })).length > 0) return null
  const unread = { text: shorten(message.body), isQuestion: message.is_question === 1 }
  for (const { shown, is_verified } of await listClientHandles(ctx.db, { client_id: thread.client_id })) {
    const to = parseMailAddress(shown)?.address
    if (to !== undefined) return { to, isProven: is_verified === 1, unread, channel }
  }
  return null
}

/** Whether the answers of the channel are shown in the thread and sent nowhere. */
const isShownOnly = ({ adapter }: ChannelRow) => (findAdapter(adapter)?.reply ?? threadReply).send === null

async function mailNotice(ctx: Ctx, brand: Brand, thread: UnnotifiedThread, notice: DueNotice): Promise<void> {
  const token = newToken('unsubscribe', ctx.world.random)
  const headers = {
    'Auto-Submitted': 'auto-generated',
    // Mail programs send a POST to this address when the person presses "unsubscribe" (RFC 8058).
    'List-Unsubscribe': `<${serviceUrl(ctx.config, `/v1/portal/unsubscribe/${token}`)}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  }
  const { project_id, client_id } = thread
  const content = await composeNotice(ctx, brand, thread, notice, token)
  await sendServiceMail(ctx, brand, {
    clientId: client_id,
    payload: { to: notice.to, ...content, headers },
    async claim(tx) {
      if (!(await updateThreadNotified(tx.db, thread, thread.message_count))) return false
      await insertNoticeToken(tx.db, { hash: tokenHash(token), project_id, client_id, created_at: isoNow(tx) })
      return true
    },
  })
}

/** Only a proven address gets the text of the message, and can sign in to the portal. */
async function composeNotice(
  ctx: Ctx,
  brand: Brand,
  thread: UnnotifiedThread,
  { isProven, unread, channel }: DueNotice,
  token: string,
): Promise<JsonObject> {
  const address = await projectAddress(ctx.db, brand.project_id)
  const unsubscribe = `${portalUrl(ctx.config, address)}&unsubscribe#${token}`
  const chatUrls = { page: channel ? onlyWidgetPage(channel) : null, unsubscribe }
  if (!isProven) return { ...chatNoticeMail(brand, unread, chatUrls) }
  const urls = { portal: portalUrl(ctx.config, address, { thread: thread.id }), unsubscribe }
  const replyTo = channel && replyAddressOf(channel, thread)
  return {
    ...noticeMail(brand, { ...unread, isAnswerable: Boolean(replyTo) }, urls),
    ...(replyTo && { reply_to: formatMailAddress(replyTo) }),
  }
}

/** The page of a widget that is used on one page only; null if the service cannot know where the client wrote. */
function onlyWidgetPage(channel: ChannelRow): string | null {
  const [page, another] = listField(toAdapterChannel(channel).config, 'origins')
  return typeof page === 'string' && another === undefined ? page : null
}

/** Where a mail continues the thread; null if the channel of the thread receives no mails. */
function replyAddressOf(channel: ChannelRow, { reply_token }: UnnotifiedThread): MailAddress | null {
  const isMail = findAdapter(channel.adapter)?.reply === mailReply
  return isMail && reply_token !== null ? makeReplyAddress(channel.address, reply_token) : null
}

const shorten = (text: string) =>
  text.length <= MAX_ANSWER_CHARACTERS ? text : `${text.slice(0, MAX_ANSWER_CHARACTERS).trimEnd()} …`
