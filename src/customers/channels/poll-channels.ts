import { doublingWaits, repeatedWaitAfter } from '../../platform/base/backoff.ts'
import type { JsonObject } from '../../platform/base/json.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { createLoop, type Loop } from '../../platform/ctx/loop.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import type { ChannelRow } from '../../platform/store/tables.ts'
import { listSecretVersions } from '../../identity/vault/rows.ts'
import { openSecret } from '../../identity/vault/secrets.ts'
import type { ChannelAdapter, PollCall } from './adapters/adapter.ts'
import { CHANNEL_ADAPTERS, findAdapter, toAdapterChannel } from './adapters/adapter-table.ts'
import { recordChannelError } from './hooks.ts'
import { receiveWithFiles } from './store-attachments.ts'
import { markUndelivered } from './undelivered.ts'
import { claimPolledChannels, releasePolledChannels, updateChannelProgress } from './poll-rows.ts'

const CLAIM_INTERVAL_MS = 5_000
/** Another replica takes over the channels of one that has not renewed its claim for so long. */
const CLAIM_MS = 30_000
const MAX_RETRY_MS = 5 * 60_000
const RETRY_WAITS_MS = doublingWaits(7, 5_000, MAX_RETRY_MS)

/** A channel whose messages this replica fetches. */
interface PolledChannel {
  /** What the poll was started with. After a change it is started again. */
  settings: string
  abort: AbortController
  ended: Promise<void>
}

/** The channels of one replica: what it polls now, and when it may try again what failed. */
interface PollState {
  polled: Map<string, PolledChannel>
  retries: Map<string, { settings: string; failures: number; at: number }>
}

/**
 * Fetches the messages of the channels whose adapter has no hook, such as mailboxes. One replica at a time claims a channel;
 * if it dies, its claim expires and another one goes on from the stored progress.
 */
export function createChannelPollLoop(ctx: Ctx): Loop {
  const state: PollState = { polled: new Map(), retries: new Map() }
  const { clock, log } = ctx.world
  const loop = createLoop(
    clock,
    CLAIM_INTERVAL_MS,
    () => claimAndPoll(ctx, state),
    (err) => log.error({ err }, 'polling of channels failed'),
  )
  return {
    start: () => loop.start(),
    async stop() {
      await loop.stop()
      await Promise.all([...state.polled.keys()].map((id) => stopPolling(state, id)))
      await inTx(ctx, (tx) => releasePolledChannels(tx.db, ctx.replica)).catch((err: unknown) =>
        log.warn({ err }, 'the claims of polled channels were not released'),
      )
    },
  }
}

const POLLED_ADAPTERS = Object.entries(CHANNEL_ADAPTERS).flatMap(([name, adapter]) => ('poll' in adapter ? [name] : []))

async function claimAndPoll(ctx: Ctx, state: PollState): Promise<void> {
  const now = ctx.world.clock.now()
  const until = toIsoTime(now + CLAIM_MS)
  // On SQLite no other replica runs: its claims are those of an earlier process.
  const staleBefore = ctx.store.kind === 'sqlite' ? until : toIsoTime(now)
  const claim = { replica: ctx.replica, staleBefore, until, adapters: POLLED_ADAPTERS }
  const channels = await inTx(ctx, (tx) => claimPolledChannels(tx.db, claim))
  const secrets = await listSecretVersions(
    ctx.db,
    channels.map(({ id }) => id),
  )
  const settings = new Map(channels.map((channel) => [channel.id, settingsOf(channel, secrets.get(channel.id))]))
  for (const [id, polled] of state.polled) if (settings.get(id) !== polled.settings) await stopPolling(state, id)
  for (const channel of channels) {
    const current = settings.get(channel.id) ?? ''
    // A failure of other settings or of an old secret is no reason to wait.
    if (state.retries.get(channel.id)?.settings !== current) state.retries.delete(channel.id)
    const retry = state.retries.get(channel.id)
    if (!state.polled.has(channel.id) && (retry?.at ?? 0) <= now) startPolling(ctx, state, channel, current)
  }
}

const settingsOf = (channel: ChannelRow, secret: string | undefined): string => {
  const { adapter, config, address, connection_id, wedge, task_type, settle_s } = channel
  return JSON.stringify([adapter, config, address, connection_id, wedge, task_type, settle_s, secret])
}

function startPolling(ctx: Ctx, state: PollState, channel: ChannelRow, settings: string): void {
  const adapter = findAdapter(channel.adapter)
  if (!adapter) return
  const abort = new AbortController()
  const startedAt = ctx.world.clock.now()
  const ended = pollOnce(ctx, adapter, channel, abort.signal).then(
    () => void state.retries.delete(channel.id),
    async (error: unknown) => {
      // A connection that broke after a long time is not a setting that never works.
      const wasStable = ctx.world.clock.now() - startedAt > MAX_RETRY_MS
      const failures = wasStable ? 1 : (state.retries.get(channel.id)?.failures ?? 0) + 1
      const pause = repeatedWaitAfter(RETRY_WAITS_MS, failures)
      state.retries.set(channel.id, { settings, failures, at: ctx.world.clock.now() + pause })
      ctx.world.log.warn({ err: error, channel: channel.id }, 'a channel could not be polled')
      await recordChannelError(ctx, channel, error)
    },
  )
  const polled = { settings, abort, ended }
  state.polled.set(channel.id, polled)
  void ended.then(() => state.polled.get(channel.id) === polled && state.polled.delete(channel.id))
}

async function pollOnce(ctx: Ctx, adapter: ChannelAdapter, channel: ChannelRow, signal: AbortSignal): Promise<void> {
  const call: PollCall = {
    channel: toAdapterChannel(channel),
    secret: await openSecret(ctx, { ...channel, secret_ref: null }),
    receive: async (message) => void (await receiveWithFiles(ctx, channel, message)),
    reportUndelivered: (report) => markUndelivered(ctx, channel, report),
    saveProgress: (progress) => saveProgress(ctx, channel, progress),
    reportError: (error) => recordChannelError(ctx, channel, error),
  }
  await adapter.poll?.(ctx, call, signal)
}

/** Only the replica that still has the claim stores progress, so that an old one cannot set it back. */
async function saveProgress(ctx: Ctx, { id }: ChannelRow, progress: JsonObject): Promise<void> {
  const row = { id, replica: ctx.replica, progress: JSON.stringify(progress), now: isoNow(ctx) }
  const isSaved = await inTx(ctx, (tx) => updateChannelProgress(tx.db, row))
  if (!isSaved) throw new Error('another replica polls the channel now')
}

async function stopPolling({ polled }: PollState, id: string): Promise<void> {
  const one = polled.get(id)
  one?.abort.abort()
  await one?.ended
  polled.delete(id)
}
