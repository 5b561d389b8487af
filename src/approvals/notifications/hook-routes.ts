import type { JsonObject } from '../../platform/base/json.ts'
import { notFound } from '../../platform/base/problem.ts'
import { withHookBody } from '../../customers/channels/hooks.ts'
import { createBodyReader } from '../../customers/channels/parsers/parse-untrusted.ts'
import { findConnection } from '../../connections/connection/rows.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { HttpRequest } from '../../platform/http/http-request.ts'
import { bytesResponse, nameRoutes, openRoute } from '../../platform/http/route.ts'
import type { NotifierRow } from '../../platform/store/tables.ts'
import { openSecret } from '../../identity/vault/secrets.ts'
import { handleNotifierEvent } from './member-actions.ts'
import type { NotifierHook } from './notifier.ts'
import { findNotifierOfKind } from './notifier-table.ts'
import { findNotifierUnscoped } from './rows.ts'

const MAX_CALL_BYTES = 1024 * 1024

/** Needs no credential: the notifier checks the signature of the service. */
export const notifierHookRoutes = nameRoutes({
  receiveNotifierCall: openRoute('POST', '/v1/hooks/notifiers/:id', {
    summary: 'Receive clicks and messages of members from Slack or Telegram',
    description:
      'The address to register with the service, as `hook_url` of the notifier. The signature is checked over the raw body. The body is what the service expects, and mostly empty.',
    streamsBody: true,
    responses: { 200: 'application/json' },
    find: ({ ctx, params }) => requireHookNotifier(ctx, params.id ?? ''),
    async handle({ ctx, subject, request }) {
      const response = await receiveNotifierCall(ctx, subject, request)
      const body = response ? JSON.stringify(response) : ''
      return bytesResponse(Buffer.from(body), { 'content-type': 'application/json' })
    },
  }),
})

interface HookNotifier {
  row: NotifierRow
  hook: NotifierHook
}

/** The notifier that a service calls; 404 if it does not exist or takes no calls. */
async function requireHookNotifier({ db }: Pick<Ctx, 'db'>, id: string): Promise<HookNotifier> {
  const [row] = await findNotifierUnscoped(db, { id })
  const hook = row && findNotifierOfKind(row.kind).hook
  if (!hook) throw notFound('notifier')
  return { row, hook }
}

/** Handles a call and returns the body of the response; null: it is empty. */
async function receiveNotifierCall(
  ctx: Ctx,
  { row, hook }: HookNotifier,
  request: HttpRequest,
): Promise<JsonObject | null> {
  const { headers } = request
  const openNotifierSecret = () => openSecret(ctx, { ...row, secret_ref: null })
  hook.verifyHead(ctx, { secret: await openNotifierSecret(), headers })
  const limits = { owner: row.id, maxBytes: MAX_CALL_BYTES, isProved: !hook.verifyBody }
  return withHookBody(ctx, request, limits, async (body, markProved) => {
    const connection = await findConnection(ctx.db, row.connection_id)
    if (!connection) throw notFound('notifier')
    const secret = await openNotifierSecret()
    const call = { notifier: row, connection, secret, headers, body, read: createBodyReader(ctx, body) }
    hook.verifyBody?.(ctx, call)
    markProved()
    const { events, response } = await hook.parse(ctx, call)
    for (const event of events) await handleNotifierEvent(ctx, row, event)
    return response?.() ?? null
  })
}
