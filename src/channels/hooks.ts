import type { IncomingMessage as HttpRequest } from 'node:http'
import { notFound, Problem } from '../base/problem.ts'
import { serviceUrl } from '../config/service-url.ts'
import { findConnection } from '../connections/rows.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { isoNow, toIsoTime } from '../ctx/world.ts'
import { readRequestBytes } from '../http/request-bytes.ts'
import type { ChannelRow } from '../store/tables.ts'
import { openSecret } from '../vault/secrets.ts'
import type { ChannelHook, HookCall, HookContent } from './adapters/adapter.ts'
import { findAdapter, toAdapterChannel } from './adapters/adapter-table.ts'
import type { Receipt } from './inbound.ts'
import { receiveIncoming } from './incoming.ts'
import { createBodyReader } from './parsers/parse-untrusted.ts'
import { markUndelivered } from './undelivered.ts'
import { findChannelUnscoped, updateChannelError } from './rows.ts'

export interface HookResult {
  receipts: Receipt[]
  response: HookContent['response']
}

/** Handles a call of a provider: checks its signature over the raw bytes, then receives its messages. */
export async function receiveHook(
  ctx: Ctx,
  { channel, hook }: HookChannel,
  { raw: request, ip }: HookRequest,
): Promise<HookResult> {
  return withHookBody(ctx, request, hook.maxBytes, async (readBody) => {
    try {
      const call = { ...(await readHookCall(ctx, channel, request, await readBody())), caller: ip }
      await hook.verify(ctx, call)
      const { messages, undelivered = [], response } = await hook.parse(ctx, call)
      const receipts: Receipt[] = []
      for (const message of messages) receipts.push(await receiveIncoming(ctx, channel, message))
      for (const report of undelivered) await markUndelivered(ctx, channel, report)
      return { receipts, response }
    } catch (error) {
      if (!isAnyonesMistake(channel, error)) await noteChannelError(ctx, channel, error)
      throw error
    }
  })
}

/** Reads and handles the body of a hook, or refuses the call while the bodies of other calls fill the memory for them. */
export async function withHookBody<Result>(
  ctx: Pick<Ctx, 'hookBodies'>,
  request: HttpRequest,
  maxBytes: number,
  handle: (readBody: () => Promise<Buffer>) => Promise<Result>,
): Promise<Result> {
  const declared = request.headers['content-length']
  const expected = declared === undefined ? maxBytes : Number(declared) || 0
  const release = ctx.hookBodies.take(Math.min(expected, maxBytes))
  if (!release) throw new Problem(503, 'too many calls at once', { headers: { 'retry-after': '5' } })
  try {
    return await handle(() => readRequestBytes(request, maxBytes))
  } finally {
    release()
  }
}

/** Without a secret anybody can send a call that is refused, so it says nothing about the channel. */
const isAnyonesMistake = ({ adapter }: ChannelRow, error: unknown): boolean =>
  findAdapter(adapter)?.secret === null && error instanceof Problem && error.status < 500

interface HookRequest {
  raw: HttpRequest
  /** The address of the caller, also behind a proxy. */
  ip: string
}

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

async function readHookCall(
  ctx: Ctx,
  channel: ChannelRow,
  request: HttpRequest,
  body: Buffer,
): Promise<Omit<HookCall, 'caller'>> {
  const connection = await findConnection(ctx.db, channel.connection_id)
  if (!connection) throw notFound('channel')
  return {
    channel: toAdapterChannel(channel),
    connection,
    secret: await openSecret(ctx, { ...channel, secret_ref: null }),
    url: serviceUrl(ctx.config, request.url ?? ''),
    headers: request.headers,
    body,
    read: createBodyReader(ctx, body),
  }
}

const ERROR_INTERVAL_MS = 60_000

/** Shown with the channel, because the provider rarely tells the founder why its calls were refused. */
export async function noteChannelError(ctx: Ctx, { id }: Pick<ChannelRow, 'id'>, error: unknown): Promise<void> {
  const text = error instanceof Problem ? error.message : 'internal error'
  const unlessSince = toIsoTime(ctx.world.clock.now() - ERROR_INTERVAL_MS)
  await inTx(ctx, (tx) => updateChannelError(tx.db, { id, error: text, now: isoNow(tx), unlessSince })).catch(
    (err: unknown) => ctx.world.log.warn({ err, channel: id }, 'the error of a channel was not stored'),
  )
}
