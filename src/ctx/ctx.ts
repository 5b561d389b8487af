import type { WedgeShelf } from '../base/wedge.ts'
import type { Config } from '../config/config.ts'
import type { Db, Store } from '../store/store.ts'
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
  ring(topic: string): void
  afterCommit(call: () => void): void
}

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
  transact: (attempt: (db: Db) => Promise<T>) => Promise<T>,
): Promise<T> {
  if ('afterCommit' in ctx) throw new Error('a transaction was opened inside a transaction')
  let topics: string[] = []
  let calls: (() => void)[] = []
  const result = await transact((db) => {
    // The store may run the work again: only the attempt that commits is heard.
    topics = []
    calls = []
    return work({ ...ctx, db, ring: (topic) => topics.push(topic), afterCommit: (call) => calls.push(call) })
  })
  ctx.counts.commits++
  for (const call of calls) call()
  for (const topic of topics) ctx.bells.ring(topic)
  if (topics.length > 0) ctx.store.tell(topics)
  return result
}
