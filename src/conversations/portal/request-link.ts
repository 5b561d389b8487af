import { incrementRateWindow, readRateWindow } from '../../identity/limits/rate-window-rows.ts'
import { rateWindowStart } from '../../identity/limits/rate-windows.ts'
import { toClientNetwork } from '../../platform/base/ip-address.ts'
import { tooManyRequests } from '../../platform/base/problem.ts'
import { findPublicBrand, type PublicBrand } from '../../customers/brand/public-brand.ts'
import { findThread } from '../../customers/threads/thread-rows.ts'
import { findClientByProvenHandle } from '../../customers/clients/rows.ts'
import { normalizeHandle } from '../../customers/clients/handles.ts'
import { parseMailAddress } from '../../connections/mail/mail-address.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import { insertNewLink, newPortalLink } from './links.ts'
import { linkMail } from './mail-text.ts'
import { sendServiceMail } from './service-mail.ts'

/** In a window of 15 minutes. */
const MAX_REQUESTS_PER_NETWORK = 20
const MAX_MAILS_PER_ADDRESS = 3

export interface LinkRequest {
  email: string
  project: string | undefined
  /** The conversation that the link opens, if it is one of the client. */
  thread: string | undefined
  /** The address of the caller. */
  caller: string
}

/**
 * Mails a sign-in link to a client. The response does not say whether there is such a client: the mail is sent in the
 * background, so that the time of the response does not tell it either.
 */
export async function requestPortalLink(ctx: Ctx, request: LinkRequest): Promise<void> {
  const windowStart = rateWindowStart(ctx)
  const network = `portal-links:${toClientNetwork(request.caller)}`
  const target = await findPublicBrand(ctx, request.project)
  // By id: a project has several names in addresses.
  const recipient = linkCounter(target.brand.project_id, request.email)
  const isAllowed = await inTx(ctx, async (tx) => {
    // Checks before writing: on SQLite a transaction that writes and then fails makes its whole group commit run again.
    if ((await readRateWindow(tx.db, network, windowStart)) >= MAX_REQUESTS_PER_NETWORK) throw tooManyLinks()
    if ((await incrementRateWindow(tx.db, network, windowStart)) > MAX_REQUESTS_PER_NETWORK) throw tooManyLinks()
    return (await incrementRateWindow(tx.db, recipient, windowStart)) <= MAX_MAILS_PER_ADDRESS
  })
  if (!isAllowed) return
  mailLink(ctx, target, request).catch((err: unknown) => ctx.world.log.warn({ err }, 'a sign-in link was not mailed'))
}

/** The counter of the sign-in links that were asked for an address. */
export const linkCounter = (projectId: string, email: string) =>
  `portal-links-to:${projectId} ${normalizeHandle(email)}`

const tooManyLinks = () => tooManyRequests('too many requests for links: try again later', 15 * 60)

async function mailLink(
  ctx: Ctx,
  { brand, address }: PublicBrand,
  { email, thread: id }: Pick<LinkRequest, 'email' | 'thread'>,
): Promise<void> {
  // A visitor of the widget may have typed the address of somebody else, who must not sign in as that visitor.
  const client = await findClientByProvenHandle(ctx.db, brand.project_id, normalizeHandle(email))
  const handle = client?.handles.find((one) => isSameHandle(one, email))
  const to = handle === undefined ? undefined : parseMailAddress(handle)?.address
  if (!client || !to || address === null) return
  const thread = id === undefined ? undefined : await findThread(ctx.db, [brand.project_id], id)
  const opened = thread?.client_id === client.id ? thread.id : undefined
  const { link, row } = newPortalLink(ctx, client, address, { thread: opened })
  await sendServiceMail(ctx, brand, {
    clientId: client.id,
    payload: { to, ...linkMail(brand, link.url) },
    async claim(tx) {
      await insertNewLink(tx, SYSTEM_ACTOR, row, { by: 'mail' })
      return true
    },
  })
}

const isSameHandle = (one: string, other: string) => normalizeHandle(one) === normalizeHandle(other)
