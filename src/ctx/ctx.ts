import type { WedgeLibrary } from '../contract/wedge-manifest.ts'
import type { Config } from '../config/config.ts'
import type { GroupCommitState } from '../store/group-commit-state.ts'
import type { Db, Store, TransactionWork } from '../store/store.ts'
import type { QueuedTask } from '../store/tables.ts'
import type { Notifications } from './notifications.ts'
import type { Counts } from './counts.ts'
import type { LiveRuns } from './live-runs.ts'
import type { LogFollowers } from './log-followers.ts'
import type { Vault } from './vault.ts'
import type { World } from './world.ts'

/** Everything that is passed around: data and the few things that live in memory. Given first, never imported. */
export interface Ctx {
  config: Config
  store: Store
  /** Committed rows; inside a transaction, the transaction's own. */
  db: Db
  world: World
  notifications: Notifications
  /** The logs that somebody follows right now. */
  logFollowers: LogFollowers
  /** The runs of this replica, with the handles that end them. */
  liveRuns: LiveRuns
  /** The runner, while it works: begins tasks in the transaction that queues them. */
  taskStarter: { take: StartOnCreate }
  /** The wedges as they lie in the folder now. */
  wedges: WedgeLibrary
  /** Seals and opens the secrets of connections. */
  vault: Vault
  /** What this replica has done, for those who watch it. */
  counts: Counts
  /** This replica's name in the leases. */
  replica: string
}

/** A context inside a transaction: `db` is the transaction, and what others hear waits for the commit. */
export interface Tx extends Ctx {
  groupCommit: GroupCommitState
  notify(topic: string): void
  afterCommit(call: () => void): void
  /** Called when all this came to nothing; with a `StoreAway`, when nobody can say whether it did. */
  afterFailure(call: (error: unknown) => void): void
}

/**
 * Takes a task that this transaction is about to queue, if it can begin at once; null: it has to wait. Lower floors
 * offer tasks through it and never call the runner.
 */
export type StartOnCreate = (tx: Tx, task: QueuedTask) => StartedTask | null

/** The task as it is when it has begun, and its first event. */
interface StartedTask {
  task: QueuedTask
  appendFirstEvent(): Promise<void>
}

/** Where no runner works, tasks wait in the queue. */
export const neverStart: StartOnCreate = () => null

/**
 * All or nothing; bells ring and frames fly only after the commit. The work awaits only the database. Works of one lane
 * may share a commit (`Store.transact`).
 */
export function inTx<T>(ctx: Ctx, work: (tx: Tx) => Promise<T>, lane?: string): Promise<T> {
  return commit(ctx, work, (attempt) => ctx.store.transact(attempt, lane))
}

/**
 * Like `inTx`, for what has happened already and must be written: while the store is away it waits, until the signal
 * fires if there is one, and then does it exactly once.
 */
export function inDurableTx<T>(
  ctx: Ctx,
  work: (tx: Tx) => Promise<T>,
  signal?: AbortSignal,
  lane?: string,
): Promise<T> {
  return commit(ctx, work, (attempt) => ctx.store.transactDurably(attempt, signal, lane))
}

async function commit<T>(
  ctx: Ctx,
  work: (tx: Tx) => Promise<T>,
  transact: (attempt: TransactionWork<T>) => Promise<T>,
): Promise<T> {
  if ('afterCommit' in ctx) throw new Error('a transaction was opened inside a transaction')
  let topics: string[] = []
  let calls: (() => void)[] = []
  let failures: ((error: unknown) => void)[] = []
  const fail = (error: unknown) => {
    for (const call of failures) call(error)
  }
  const attempt = (db: Db, shared: GroupCommitState) => {
    // The store may run the work again: only the attempt that commits is heard.
    fail(null)
    topics = []
    calls = []
    failures = []
    return work({
      // One by one: a spread with more behind it costs as much as a statement.
      config: ctx.config,
      store: ctx.store,
      db,
      world: ctx.world,
      notifications: ctx.notifications,
      logFollowers: ctx.logFollowers,
      liveRuns: ctx.liveRuns,
      taskStarter: ctx.taskStarter,
      wedges: ctx.wedges,
      vault: ctx.vault,
      counts: ctx.counts,
      replica: ctx.replica,
      groupCommit: shared,
      notify: (topic) => topics.push(topic),
      afterCommit: (call) => calls.push(call),
      afterFailure: (call) => failures.push(call),
    })
  }
  const result = await transact(attempt).catch((error: unknown) => {
    fail(error)
    throw error
  })
  ctx.counts.commits++
  for (const call of calls) call()
  for (const topic of topics) ctx.notifications.publish(topic)
  if (topics.length > 0) ctx.store.notify(topics)
  return result
}
