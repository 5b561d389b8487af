import { isUnreachable } from '../errors.ts'
import type { PostgresConnection } from './connection.ts'
import type { ConnectionPool } from './connection-pool.ts'
import { type OnInterruptedCommit, runTransaction, runTransactionWithRetry } from './transaction.ts'
import type { GroupCommitState } from '../group-commit-state.ts'
import type { Db, TransactionWork } from '../store.ts'

/**
 * Transactions of one lane run one after another, and those that came while a commit was under way share the next. They
 * would wait for each other's locks anyway, each through a commit of the other and on a connection of its own. When one
 * fails that had written something, the commit is undone and each is run again alone.
 */
export class PostgresGroupCommit {
  readonly #lines: ConnectionPool
  /** Those who wait, by lane; a lane that nobody uses is not there. */
  readonly #waiting = new Map<string, WaitingTransaction[]>()

  constructor(lines: ConnectionPool) {
    this.#lines = lines
  }

  transact<T>(lane: string, work: TransactionWork<T>, onCut?: OnInterruptedCommit<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const member = { work, onCut, resolve, reject } as WaitingTransaction
      const waiting = this.#waiting.get(lane)
      if (waiting) waiting.push(member)
      else this.#open(lane, member)
    })
  }

  #open(lane: string, first: WaitingTransaction): void {
    const waiting = [first]
    this.#waiting.set(lane, waiting)
    void this.#drain(lane, waiting)
  }

  async #drain(lane: string, waiting: WaitingTransaction[]): Promise<void> {
    // One turn of the event loop gathers what arrives together.
    await new Promise(setImmediate)
    while (waiting.length > 0) await this.#commit(waiting.splice(0, MAX_BATCH))
    this.#waiting.delete(lane)
  }

  async #commit(members: WaitingTransaction[]): Promise<void> {
    if (members.length === 1) return this.#eachAlone(members)
    try {
      const known = members.some((member) => member.onCut)
      const all = (db: Db, shared: GroupCommitState, line: PostgresConnection) => runInTurn(db, shared, line, members)
      const endings = await runTransaction(this.#lines, all, known ? reportInterruption : undefined)
      for (const { member, value, failed } of endings) (failed ? member.reject : member.resolve)(value)
    } catch (error) {
      if (!isUnreachable(error)) return this.#eachAlone(members)
      for (const member of members) member.reject(error)
    }
  }

  async #eachAlone(members: WaitingTransaction[]): Promise<void> {
    await Promise.all(
      members.map(({ work, onCut, resolve, reject }) =>
        runTransactionWithRetry(this.#lines, work, onCut).then(resolve, reject),
      ),
    )
  }
}

/** As long as the first of them may wait for the last. */
const MAX_BATCH = 32

interface WaitingTransaction {
  work: TransactionWork<unknown>
  onCut?: OnInterruptedCommit<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** How one of them ended: with its value, or with the error that is its value. */
interface TransactionResult {
  member: WaitingTransaction
  value: unknown
  failed: boolean
}

/** Those that had failed were not to be committed. */
const reportInterruption: OnInterruptedCommit<TransactionResult[]> = ({ xid, value: endings }) => {
  for (const { member, value, failed } of endings) if (!failed) member.onCut?.({ xid, value })
}

async function runInTurn(
  db: Db,
  shared: GroupCommitState,
  line: PostgresConnection,
  members: WaitingTransaction[],
): Promise<TransactionResult[]> {
  const endings: TransactionResult[] = []
  for (const member of members) {
    const written = line.writeCount
    try {
      endings.push({ member, value: await member.work(db, shared), failed: false })
    } catch (error) {
      if (line.hasFailed || line.writeCount > written) throw error
      endings.push({ member, value: error, failed: true })
    }
  }
  return endings
}
