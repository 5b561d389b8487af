import { isGone } from './away.ts'
import type { Line } from './postgres-line.ts'
import type { ConnectionPool } from './postgres-pool.ts'
import { type OnCut, transact, transactAgain } from './postgres-transact.ts'
import type { Shared } from './shared.ts'
import type { Db, Work } from './store.ts'

/**
 * Transactions of one lane run one after another, and those that came while a commit was under way share the next. They
 * would wait for each other's locks anyway, each through a commit of the other and on a connection of its own. When one
 * fails that had written something, the commit is undone and each is run again alone.
 */
export class Lanes {
  readonly #lines: ConnectionPool
  /** Those who wait, by lane; a lane that nobody uses is not there. */
  readonly #waiting = new Map<string, Member[]>()

  constructor(lines: ConnectionPool) {
    this.#lines = lines
  }

  transact<T>(lane: string, work: Work<T>, onCut?: OnCut<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const member = { work, onCut, resolve, reject } as Member
      const waiting = this.#waiting.get(lane)
      if (waiting) waiting.push(member)
      else this.#open(lane, member)
    })
  }

  #open(lane: string, first: Member): void {
    const waiting = [first]
    this.#waiting.set(lane, waiting)
    void this.#drain(lane, waiting)
  }

  async #drain(lane: string, waiting: Member[]): Promise<void> {
    // One turn of the event loop gathers what arrives together.
    await new Promise(setImmediate)
    while (waiting.length > 0) await this.#commit(waiting.splice(0, MOST_TOGETHER))
    this.#waiting.delete(lane)
  }

  async #commit(members: Member[]): Promise<void> {
    if (members.length === 1) return this.#eachAlone(members)
    try {
      const known = members.some((member) => member.onCut)
      const all = (db: Db, shared: Shared, line: Line) => inTurn(db, shared, line, members)
      const endings = await transact(this.#lines, all, known ? tellCut : undefined)
      for (const { member, value, failed } of endings) (failed ? member.reject : member.resolve)(value)
    } catch (error) {
      if (!isGone(error)) return this.#eachAlone(members)
      for (const member of members) member.reject(error)
    }
  }

  async #eachAlone(members: Member[]): Promise<void> {
    await Promise.all(
      members.map(({ work, onCut, resolve, reject }) => transactAgain(this.#lines, work, onCut).then(resolve, reject)),
    )
  }
}

/** As long as the first of them may wait for the last. */
const MOST_TOGETHER = 32

interface Member {
  work: Work<unknown>
  onCut?: OnCut<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** How one of them ended: with its value, or with the error that is its value. */
interface Ending {
  member: Member
  value: unknown
  failed: boolean
}

/** Those that had failed were not to be committed. */
const tellCut: OnCut<Ending[]> = ({ xid, value: endings }) => {
  for (const { member, value, failed } of endings) if (!failed) member.onCut?.({ xid, value })
}

async function inTurn(db: Db, shared: Shared, line: Line, members: Member[]): Promise<Ending[]> {
  const endings: Ending[] = []
  for (const member of members) {
    const written = line.written
    try {
      endings.push({ member, value: await member.work(db, shared), failed: false })
    } catch (error) {
      if (line.broken || line.written > written) throw error
      endings.push({ member, value: error, failed: true })
    }
  }
  return endings
}
