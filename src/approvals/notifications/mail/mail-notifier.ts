import type { JsonObject } from '../../../platform/base/json.ts'
import { badRequest } from '../../../platform/base/problem.ts'
import { prepareAction, sendAction } from '../../../connections/actions/send-action.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import type { NoticeTarget, Notifier } from '../notifier.ts'
import { approvalMail } from './approval-mail.ts'

/** Tells members by mail. The mail has a link to the page where its reader decides. */
export const mailNotifier: Notifier = {
  kind: 'mail',
  secret: null,
  decidesOnPage: true,
  checkConnection({ kind }) {
    if (kind !== 'email') throw badRequest("field 'connection' must name a connection of the kind 'email'")
  },
  async post(ctx, target, notice) {
    await sendNoticeMail(ctx, target, { to: target.address, ...approvalMail(notice) })
    return { externalId: target.idempotencyKey }
  },
  // A mail cannot be changed once it was sent. Its link leads to the page, which shows the outcome.
  rewrite: async () => {},
}

/** Sends a mail of the service to a member. Throws if it was not sent, or if that is not known. */
export async function sendNoticeMail(
  ctx: Ctx,
  { connection, idempotencyKey }: Pick<NoticeTarget, 'connection' | 'idempotencyKey'>,
  mail: JsonObject,
): Promise<void> {
  const capability = `${connection.name}:send`
  const request = { capability, payload: { ...mail, headers: MAIL_HEADERS }, runSignal: NEVER_WITHDRAWN }
  const { payload } = await prepareAction(ctx, connection, request)
  const { ok, error } = await sendAction(ctx, connection, { ...request, payload, idempotencyKey })
  if (!ok) throw new Error(error ?? 'the mail server did not accept the mail')
}

/** Keeps vacation replies away, which nobody reads. */
const MAIL_HEADERS = { 'Auto-Submitted': 'auto-generated' }

const NEVER_WITHDRAWN = { aborted: false }
