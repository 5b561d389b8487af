import { toClientNetwork } from '../../platform/base/ip-address.ts'
import { notFound, Problem } from '../../platform/base/problem.ts'
import { serviceUrl } from '../../platform/config/service-url.ts'
import { findConnection } from '../../connections/connection/rows.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { SecretUnavailable } from '../../platform/ctx/vault.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import type { HttpRequest } from '../../platform/http/http-request.ts'
import { readRequestBytes } from '../../platform/http/request-bytes.ts'
import type { ChannelRow } from '../../platform/store/tables.ts'
import { openSecret } from '../../identity/vault/secrets.ts'
import type { ChannelHook, HookContent, HookHead } from './adapters/adapter.ts'
import { findAdapter, toAdapterChannel } from './adapters/adapter-table.ts'
import type { Receipt } from './receive-message.ts'
import { receiveWithFiles } from './store-attachments.ts'
import { createBodyReader } from './parsers/parse-untrusted.ts'
import { markUndelivered } from './undelivered.ts'
import { findChannelUnscoped, updateChannelError } from './rows.ts'

export interface HookResult {
  receipts: Receipt[]
  response: HookContent['response']
}

/** Handles a call of a provider: checks its headers, then the signature over the raw body, then receives its messages. */
export async function receiveHook(ctx: Ctx, { channel, hook }: HookChannel, request: HttpRequest): Promise<HookResult> {
  try {
    await hook.verifyHead(ctx, await readHookHead(ctx, channel, request))
    const hasSecret = findAdapter(channel.adapter)?.secret !== null
    const isProved = hasSecret && !hook.verifyBody
    const limits = { owner: channel.id, maxBytes: hook.maxBytes, isProved }
    return await withHookBody(ctx, request, limits, async (body, markProved) => {
      // The secret or the connection may have changed while the body arrived.
      const call = { ...(await readHookHead(ctx, channel, request)), body, read: createBodyReader(ctx, body) }
      await hook.verifyBody?.(ctx, call)
      if (hasSecret) markProved()
      const { messages, undelivered = [], response } = await hook.parse(ctx, call)
      const receipts: Receipt[] = []
      for (const message of messages) receipts.push(await receiveWithFiles(ctx, channel, message))
      for (const report of undelivered) await markUndelivered(ctx, channel, report)
      return { receipts, response }
    })
  } catch (error) {
    if (!isAnyonesMistake(channel, error)) await recordChannelError(ctx, channel, error)
    throw error instanceof SecretUnavailable ? secretIsLost() : error
  }
}

/**
 * Reads and handles the body of a hook. A call is refused when its channel or its address has used its share of the memory
 * for bodies, so that one of them cannot keep out the calls of the others. Once it is proved that the provider sent a call, it
 * counts for its channel only, because a provider calls all its channels from a few addresses.
 */
export async function withHookBody<Result>(
  ctx: Pick<Ctx, 'hookBodies'>,
  { raw, address }: HttpRequest,
  { owner, maxBytes, isProved }: { owner: string; maxBytes: number; isProved: boolean },
  handle: (body: Buffer, markProved: () => void) => Promise<Result>,
): Promise<Result> {
  const reserved = ctx.hookBodies.open(owner, ...(isProved ? [] : [toClientNetwork(address)]))
  try {
    const body = await readRequestBytes(raw, maxBytes, (bytes) => {
      if (!reserved.add(bytes)) throw new Problem(503, 'too many calls at once', { headers: { 'retry-after': '5' } })
    })
    return await handle(body, () => reserved.keepFor(owner))
  } finally {
    reserved.release()
  }
}

/** Also a caller without a signature reads it, so it says nothing about the key. Providers try again after a 503. */
const secretIsLost = () => new Problem(503, 'the secret of this channel cannot be opened: set it again')

/** Without a secret anybody can send a call that is refused, so it says nothing about the channel. */
const isAnyonesMistake = ({ adapter }: ChannelRow, error: unknown): boolean =>
  findAdapter(adapter)?.secret === null && error instanceof Problem && error.status < 500

export interface HookChannel {
  channel: ChannelRow
  hook: ChannelHook
}

/** The channel that a provider calls; 404 if it does not exist or its adapter takes no calls. */
export async function requireHookChannel({ db }: Pick<Ctx, 'db'>, id: string): Promise<HookChannel> {
  const channel = await findChannelUnscoped(db, id)
  const hook = channel && findAdapter(channel.adapter)?.hook
  if (!hook) throw notFound('channel')
  return { channel, hook }
}

async function readHookHead(ctx: Ctx, channel: ChannelRow, { url, headers, address }: HttpRequest): Promise<HookHead> {
  const connection = await findConnection(ctx.db, channel.connection_id)
  if (!connection) throw notFound('channel')
  return {
    channel: toAdapterChannel(channel),
    connection,
    secret: await openSecret(ctx, { ...channel, secret_ref: null }),
    url: serviceUrl(ctx.config, url),
    headers,
    caller: address,
  }
}

const ERROR_INTERVAL_MS = 60_000

/** Shown with the channel, because the provider rarely tells the founder why its calls were refused. */
export async function recordChannelError(ctx: Ctx, { id }: Pick<ChannelRow, 'id'>, error: unknown): Promise<void> {
  const isKnown = error instanceof Problem || error instanceof SecretUnavailable
  const text = isKnown ? error.message : 'internal error'
  const unlessSince = toIsoTime(ctx.world.clock.now() - ERROR_INTERVAL_MS)
  await inTx(ctx, (tx) => updateChannelError(tx.db, { id, error: text, now: isoNow(tx), unlessSince })).catch(
    (err: unknown) => ctx.world.log.warn({ err, channel: id }, 'the error of a channel was not stored'),
  )
}
