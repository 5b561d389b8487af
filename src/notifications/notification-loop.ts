import { type Ctx, inTx } from '../ctx/ctx.ts'
import { createLoop, type Loop } from '../ctx/loop.ts'
import { isoNow, toIsoTime } from '../ctx/world.ts'
import { StoreUnavailable } from '../store/errors.ts'
import type { NotificationMessageRow } from '../store/tables.ts'
import { groupDueMessages, groupSentMessages, type MessageGroup } from './message-groups.ts'
import { claimMessages, listDueMessages, listOutdatedMessages, listOutdatedMessagesOf } from './message-rows.ts'
import { planDueNotices } from './plan-notices.ts'
import { listNotifiedProjects } from './rows.ts'
import { rewriteNotice, sendNotice } from './send-notices.ts'

const SWEEP_MS = 1_000
const MAX_CHECKED_APPROVALS = 500
/** A claim lasts longer than any attempt. After that the sender must have died, and another replica sends again. */
const CLAIM_LIFETIME_MS = 120_000
const MAX_CONCURRENT_SENDS = 64
/** A service that does not respond delays only the messages of its own project. */
const MAX_SENDS_OF_PROJECT = 16

/** How often a replica looks for messages of decisions that another replica took before it died. */
const SCAN_MS = 30_000

interface LoopState {
  /** The messages on their way, each with its project. */
  running: Map<Promise<void>, string>
  notifiedProjects: Set<string>
  /** Approvals whose messages may show them as pending although they are decided. */
  decided: Set<string>
  nextScanAt: number
}

/**
 * Tells members of approvals and rewrites the messages once they are decided. Every replica runs it: it begins a round
 * every second, and at once when this replica changes the status of an approval of a project with a notifier.
 */
export function createNotificationLoop(ctx: Ctx): Loop {
  const state: LoopState = { running: new Map(), notifiedProjects: new Set(), decided: new Set(), nextScanAt: 0 }
  const logFailure = (err: unknown) =>
    err instanceof StoreUnavailable || ctx.world.log.error({ err }, 'notification of members failed')
  const loop = createLoop(
    ctx.world.clock,
    SWEEP_MS,
    async () => {
      await refreshProjects(ctx, state.notifiedProjects)
      if (await planDueNotices(ctx)) loop.wake()
      await startSends(ctx, state, () => loop.wake())
    },
    logFailure,
  )
  const unsubscribe = ctx.notifications.subscribe({ topic: 'status-changed' }, ({ projectId, change }) => {
    if (change.kind !== 'approval' || !state.notifiedProjects.has(projectId)) return
    if (change.status !== 'pending') state.decided.add(change.id)
    loop.wake()
  })
  return {
    start: () => loop.start(),
    async stop() {
      unsubscribe()
      await loop.stop()
      await Promise.all(state.running.keys())
    },
  }
}

/** Kept in memory, so that the approvals of a project without notifiers wake nothing. */
async function refreshProjects(ctx: Ctx, projects: Set<string>): Promise<void> {
  const current = await listNotifiedProjects(ctx.db, {})
  projects.clear()
  for (const { project_id } of current) projects.add(project_id)
}

/** Starts as many sends as there are free slots, the longest waiting messages first. */
async function startSends(ctx: Ctx, state: LoopState, onFreeSlot: () => void): Promise<void> {
  const { running, decided } = state
  const now = isoNow(ctx)
  const [due, outdated] = await Promise.all([listDueMessages(ctx.db, { now }), listOutdated(ctx, state)])
  const works = [
    ...groupDueMessages(due).map((group) => ({ group, work: sendNotice })),
    ...groupSentMessages(outdated).map((group) => ({ group, work: rewriteNotice })),
  ]
  for (const { group, work } of works) {
    const [{ project_id }] = group
    if (isFull(state, project_id)) continue
    const send = claimAndSend(ctx, group, work)
      .catch((err: unknown) => ctx.world.log.error({ err }, 'a message about an approval was not recorded'))
      .finally(() => {
        const wasFull = isFull(state, project_id)
        running.delete(send)
        // The decision may have been taken while the message was on its way.
        for (const { approval_id } of group) decided.add(approval_id)
        if (wasFull) onFreeSlot()
      })
    running.set(send, project_id)
  }
}

/** The messages that can be rewritten now, of approvals that were decided. */
async function listOutdated(ctx: Ctx, state: LoopState): Promise<NotificationMessageRow[]> {
  const { decided } = state
  const now = ctx.world.clock.now()
  if (now >= state.nextScanAt) {
    for (const { approval_id } of await listOutdatedMessages(ctx.db, { now: toIsoTime(now) })) decided.add(approval_id)
    state.nextScanAt = now + SCAN_MS
  }
  const ids = [...decided].slice(0, MAX_CHECKED_APPROVALS)
  if (ids.length === 0) return []
  const outdated = await listOutdatedMessagesOf(ctx.db, ids)
  const unfinished = new Set(outdated.map(({ approval_id }) => approval_id))
  for (const id of ids) {
    decided.delete(id)
    // Behind the others, so that messages that wait for another attempt do not keep them away.
    if (unfinished.has(id)) decided.add(id)
  }
  return outdated.filter(({ due_at, claimed_until }) => [due_at, claimed_until].every((time) => isPast(time, now)))
}

const isPast = (time: string | null, now: number): boolean => time === null || time <= toIsoTime(now)

async function claimAndSend(ctx: Ctx, group: MessageGroup, work: typeof sendNotice): Promise<void> {
  const now = ctx.world.clock.now()
  const times = { now: toIsoTime(now), claimed_until: toIsoTime(now + CLAIM_LIFETIME_MS) }
  const claim = { ...times, claimed_by: ctx.replica }
  const [first, ...others] = await inTx(ctx, (tx) => claimMessages(tx.db, group, claim))
  if (first) await work(ctx, [first, ...others])
}

const isFull = ({ running }: LoopState, projectId: string): boolean =>
  running.size >= MAX_CONCURRENT_SENDS ||
  [...running.values()].filter((one) => one === projectId).length >= MAX_SENDS_OF_PROJECT
