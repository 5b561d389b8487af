import type { WedgeLibrary } from '../contract/wedge/wedge-manifest.ts'
import type { JsonObject } from '../base/json.ts'
import type { Config } from '../config/config.ts'
import type { GroupCommitState } from '../store/group-commit-state.ts'
import type { Db, Store, TransactionWork } from '../store/store.ts'
import type { ChannelRow, QueuedTask } from '../store/tables.ts'
import type { ByteBudget } from './byte-budget.ts'
import type { Counts } from './counts.ts'
import type { LiveRuns } from './live-runs.ts'
import type { LogFollowers } from './log-followers.ts'
import type { ChangeHints } from './change-hints.ts'
import type { StartProgram } from './program-starter.ts'
import type { Actor } from './scope.ts'
import { encodeHint, type SharedHint } from './topics.ts'
import type { Vault } from './vault.ts'
import type { ParserThreads } from './worker-thread.ts'
import type { World } from './world.ts'

/** Everything that functions need from outside: data and a few objects in memory. Always the first argument. */
export interface Ctx {
  config: Config
  store: Store
  /** Reads committed rows; inside a transaction, also the transaction's own changes. */
  db: Db
  world: World
  changeHints: ChangeHints
  /** The open streams of task logs on this replica. */
  logFollowers: LogFollowers
  /** The runs of this replica, each with a handle that ends it. */
  liveRuns: LiveRuns
  /** Starts tasks in the transaction that creates them; set by the runner. */
  taskStarter: { tryStart: StartOnCreate }
  /** Takes a message of a client as the answer to a question; set by the app. */
  messageAnswers: { tryAnswer: AnswerByMessage }
  /** Starts programs of wedges in sandboxed processes; set by the app when the sandbox has been checked. */
  programStarter: { start: StartProgram }
  /** The projects that have reached their storage limit; refreshed every few seconds. */
  fullProjects: Set<string>
  /** The bodies of channel hooks that are in memory. */
  hookBodies: ByteBudget
  /** Parse what strangers have sent, if it is large; see `channels/parsers`. */
  parserThreads: ParserThreads
  /** The wedges of the folder, re-read when a file changes. */
  wedges: WedgeLibrary
  /** Seals and opens the secrets of connections. */
  vault: Vault
  /** What this replica has done since it started, for the metrics. */
  counts: Counts
  /** The name of this replica in its leases. */
  replica: string
}

/** A context inside a transaction: `db` is the transaction, and change hints wait for the commit. */
export interface Tx extends Ctx {
  groupCommit: GroupCommitState
  publishAfterCommit(hint: SharedHint): void
  afterCommit(call: () => void): void
  /** Called when nothing was committed. With a `StoreUnavailable` it is unknown whether the commit happened. */
  afterFailure(call: (error: unknown) => void): void
}

/**
 * Starts a task that this transaction is about to queue, if a slot is free; null: the task has to wait. The task folder
 * calls the runner through this function, because it may not import it.
 */
export type StartOnCreate = (tx: Tx, task: QueuedTask) => StartedTask | null

/** The task as it is once it has started. */
interface StartedTask {
  task: QueuedTask
  appendFirstEvent(): Promise<void>
}

/** Null if the message answers no question. The channels call it through this function, because they may not import it. */
export type AnswerByMessage = (
  ctx: Ctx,
  actor: Actor,
  channel: ChannelRow,
  message: ClientMessage,
) => Promise<{ task_id: string; thread_id: string; client_id: string } | null>

/** A message of a client, from any channel. */
export interface ClientMessage {
  from: { handle: string; name: string | null }
  body: string
  /** What the client wrote; absent: the whole body. */
  writtenText?: string
  subject: string | null
  externalId: string | null
  conversationKey: string
  continues?: { externalIds: string[]; replyToken: string | null }
  senderProof?: 'required' | 'failed'
  address: JsonObject | null
  verdict?: JsonObject
  fileIds: readonly string[]
  isAutomatic?: boolean
}

/** Without a runner, tasks wait in the queue. */
export const neverStart: StartOnCreate = () => null

/**
 * Runs the work in one transaction and publishes its change hints after the commit. The work may await only the database.
 * Transactions with the same group may share a commit (see `Store.transact`).
 */
export function inTx<T>(ctx: Ctx, work: (tx: Tx) => Promise<T>, group?: string): Promise<T> {
  return commit(ctx, work, (attempt) => ctx.store.transact(attempt, group))
}

/**
 * Like `inTx`, for something that has happened already and must be recorded: it waits while the store is unavailable,
 * until the signal fires if there is one, and then commits exactly once.
 */
export function inDurableTx<T>(
  ctx: Ctx,
  work: (tx: Tx) => Promise<T>,
  signal?: AbortSignal,
  group?: string,
): Promise<T> {
  return commit(ctx, work, (attempt) => ctx.store.transactDurably(attempt, signal, group))
}

/**
 * The context of requests, which wait while the database is away, until the signal is aborted. The loops of a replica retry
 * by themselves.
 */
export function withRetryingStore(ctx: Ctx, signal?: AbortSignal): Ctx {
  const store = ctx.store.forRequests(ctx.config.databaseWaitS * 1000, signal)
  return { ...ctx, store, db: store.db }
}

/** The context of reads that may take long. */
export const readLists = (ctx: Ctx): Ctx => ({ ...ctx, db: ctx.store.lists })

async function commit<T>(
  ctx: Ctx,
  work: (tx: Tx) => Promise<T>,
  transact: (attempt: TransactionWork<T>) => Promise<T>,
): Promise<T> {
  if ('afterCommit' in ctx) throw new Error('a transaction cannot be opened inside a transaction')
  let hints: SharedHint[] = []
  let calls: (() => void)[] = []
  let failures: ((error: unknown) => void)[] = []
  const fail = (error: unknown) => {
    for (const call of failures) call(error)
  }
  const attempt = (db: Db, groupCommit: GroupCommitState) => {
    // The store may run the work again; only the attempt that commits has effects.
    fail(null)
    hints = []
    calls = []
    failures = []
    return work({
      // Field by field, because a spread followed by more fields costs as much as a statement.
      config: ctx.config,
      store: ctx.store,
      db,
      world: ctx.world,
      changeHints: ctx.changeHints,
      logFollowers: ctx.logFollowers,
      liveRuns: ctx.liveRuns,
      taskStarter: ctx.taskStarter,
      messageAnswers: ctx.messageAnswers,
      programStarter: ctx.programStarter,
      fullProjects: ctx.fullProjects,
      hookBodies: ctx.hookBodies,
      parserThreads: ctx.parserThreads,
      wedges: ctx.wedges,
      vault: ctx.vault,
      counts: ctx.counts,
      replica: ctx.replica,
      groupCommit,
      publishAfterCommit: (hint) => hints.push(hint),
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
  for (const hint of hints) ctx.changeHints.publish(hint)
  if (hints.length > 0) ctx.store.publish(hints.map(encodeHint))
  return result
}
