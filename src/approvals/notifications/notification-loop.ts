import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { createLoop, type Loop } from '../../platform/ctx/loop.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import { StoreUnavailable } from '../../platform/store/errors.ts'
import { groupDueMessages, groupSentMessages, type MessageGroup } from './message-groups.ts'
import { claimMessages, listDueMessages, listOutdatedMessages } from './message-rows.ts'
import { planDueNotices } from './plan-notices.ts'
import { listNotifiedProjects } from './rows.ts'
import { rewriteNotice, sendNotice } from './send-notices.ts'

const SWEEP_MS = 1_000
/** A claim lasts longer than any attempt. After that the sender must have died, and another replica sends again. */
const CLAIM_LIFETIME_MS = 120_000
const MAX_CONCURRENT_SENDS = 64
/** A service that does not respond delays only the messages of its own project. */
const MAX_SENDS_OF_PROJECT = 16

/** The messages on their way, each with its project. */
type RunningSends = Map<Promise<void>, string>

/**
 * Tells members of approvals and rewrites the messages after votes and decisions. Every replica runs it: it begins a round
 * every second, and at once when this replica changes the status of an approval of a project with a notifier.
 */
export function createNotificationLoop(ctx: Ctx): Loop {
  const running: RunningSends = new Map()
  const notifiedProjects = new Set<string>()
  const logFailure = (err: unknown) =>
    err instanceof StoreUnavailable || ctx.world.log.error({ err }, 'notification of members failed')
  const loop = createLoop(
    ctx.world.clock,
    SWEEP_MS,
    async () => {
      await refreshProjects(ctx, notifiedProjects)
      if (await planDueNotices(ctx)) loop.wake()
      await startSends(ctx, running, () => loop.wake())
    },
    logFailure,
  )
  const unsubscribe = ctx.changeHints.subscribe({ topic: 'status-changed' }, ({ projectId, change }) => {
    if (change.kind === 'approval' && notifiedProjects.has(projectId)) loop.wake()
  })
  return {
    start: () => loop.start(),
    async stop() {
      unsubscribe()
      await loop.stop()
      await Promise.all(running.keys())
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
async function startSends(ctx: Ctx, running: RunningSends, onFreeSlot: () => void): Promise<void> {
  const now = isoNow(ctx)
  const [due, outdated] = await Promise.all([listDueMessages(ctx.db, { now }), listOutdatedMessages(ctx.db, { now })])
  const works = [
    ...groupDueMessages(due).map((group) => ({ group, work: sendNotice })),
    ...groupSentMessages(outdated).map((group) => ({ group, work: rewriteNotice })),
  ]
  for (const { group, work } of works) {
    const [{ project_id }] = group
    if (isFull(running, project_id)) continue
    const send = claimAndSend(ctx, group, work)
      .catch((err: unknown) => ctx.world.log.error({ err }, 'a message about an approval was not recorded'))
      .finally(() => {
        const wasFull = isFull(running, project_id)
        running.delete(send)
        if (wasFull) onFreeSlot()
      })
    running.set(send, project_id)
  }
}

async function claimAndSend(ctx: Ctx, group: MessageGroup, work: typeof sendNotice): Promise<void> {
  const now = ctx.world.clock.now()
  const times = { now: toIsoTime(now), claimed_until: toIsoTime(now + CLAIM_LIFETIME_MS) }
  const claim = { ...times, claimed_by: ctx.replica }
  const [first, ...others] = await inTx(ctx, (tx) => claimMessages(tx.db, group, claim))
  if (first) await work(ctx, [first, ...others])
}

const isFull = (running: RunningSends, projectId: string): boolean =>
  running.size >= MAX_CONCURRENT_SENDS ||
  [...running.values()].filter((one) => one === projectId).length >= MAX_SENDS_OF_PROJECT
