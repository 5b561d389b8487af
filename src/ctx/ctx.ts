import type { WedgeShelf } from '../base/wedge.ts'
import type { Config } from '../config/config.ts'
import type { Shared } from '../store/shared.ts'
import type { Db, Store, Work } from '../store/store.ts'
import type { QueuedTask } from '../store/tables.ts'
import type { Bells } from './bells.ts'
import type { Counts } from './counts.ts'
import type { LiveRuns } from './live.ts'
import type { Tails } from './tails.ts'
import type { Vault } from './vault.ts'
import type { World } from './world.ts'

/** Everything that is passed around: data and the few things that live in memory. Given first, never imported. */
export interface Ctx {
  config: Config
  store: Store
  /** Committed rows; inside a transaction, the transaction's own. */
  db: Db
  world: World
  bells: Bells
  /** The logs that somebody follows right now. */
  tails: Tails
  /** The runs of this replica, with the handles that end them. */
  live: LiveRuns
  /** The runner, while it works: begins tasks in the transaction that queues them. */
  taker: { take: Taker }
  /** The wedges as they lie in the folder now. */
  wedges: WedgeShelf
  /** Seals and opens the secrets of connections. */
  vault: Vault
  /** What this replica has done, for those who watch it. */
  counts: Counts
  /** This replica's name in the leases. */
  replica: string
}

/** A context inside a transaction: `db` is the transaction, and what others hear waits for the commit. */
export interface Tx extends Ctx {
  shared: Shared
  ring(topic: string): void
  afterCommit(call: () => void): void
  /** Called when all this came to nothing; with a `StoreAway`, when nobody can say whether it did. */
  afterFailure(call: (error: unknown) => void): void
}

/**
 * Takes a task that this transaction is about to queue, if it can begin at once; null: it has to wait. Lower floors
 * offer tasks through it and never call the runner.
 */
export type Taker = (tx: Tx, task: QueuedTask) => Beginning | null

/** The task as it is when it has begun, and its first event. */
interface Beginning {
  task: QueuedTask
  tell(): Promise<void>
}

/** Where no runner works, tasks wait in the queue. */
export const nobody: Taker = () => null

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
export function inTxAtLast<T>(ctx: Ctx, work: (tx: Tx) => Promise<T>, signal?: AbortSignal, lane?: string): Promise<T> {
  return commit(ctx, work, (attempt) => ctx.store.outlast(attempt, signal, lane))
}

async function commit<T>(
  ctx: Ctx,
  work: (tx: Tx) => Promise<T>,
  transact: (attempt: Work<T>) => Promise<T>,
): Promise<T> {
  if ('afterCommit' in ctx) throw new Error('a transaction was opened inside a transaction')
  let topics: string[] = []
  let calls: (() => void)[] = []
  let failures: ((error: unknown) => void)[] = []
  const fail = (error: unknown) => {
    for (const call of failures) call(error)
  }
  const attempt = (db: Db, shared: Shared) => {
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
      bells: ctx.bells,
      tails: ctx.tails,
      live: ctx.live,
      taker: ctx.taker,
      wedges: ctx.wedges,
      vault: ctx.vault,
      counts: ctx.counts,
      replica: ctx.replica,
      shared,
      ring: (topic) => topics.push(topic),
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
  for (const topic of topics) ctx.bells.ring(topic)
  if (topics.length > 0) ctx.store.tell(topics)
  return result
}
