import type { WedgeCode } from '../base/wedge.ts'
import type { Clock } from '../ctx/world.ts'
import type { WorkflowProcess } from './process.ts'

/** Whose process it is: never two projects or two wedges in one, because modules keep what they have seen. */
export interface Owner {
  projectId: string
  wedge: string
  /** A run keeps the code that it began with, so two versions of a wedge may be at work side by side. */
  code: WedgeCode
}

/** A process, or one that is about to be, in the hands of one call at a time. */
export interface Seat extends Owner {
  process: Promise<WorkflowProcess>
  busy: boolean
  idleSince: number
  calls: number
  /** Stops the clock that ends an idle process. */
  keepAwake: () => void
}

interface Waiting {
  owner: Owner
  resolve: (seat: Seat | null) => void
}

const PER_WEDGE = 4
const PER_PROJECT = 8
const IN_ALL = 16
const WAITING_MOST = 256
const IDLE_MS = 60_000
/** A process that leaks is replaced before it harms anyone. */
const CALLS_MOST = 1000

/** Warm processes, few in all: calls that find none free wait in order. */
export class WorkflowPool {
  readonly #clock: Clock
  readonly #start: (owner: Owner) => Promise<WorkflowProcess>
  readonly #seats = new Set<Seat>()
  readonly #waiting = new Set<Waiting>()
  #closed = false

  constructor(clock: Clock, start: (owner: Owner) => Promise<WorkflowProcess>) {
    this.#clock = clock
    this.#start = start
  }

  get size(): number {
    return this.#seats.size
  }

  /** A seat for one call, to be given back; null when none came free in time or the signal fired. */
  async take(owner: Owner, waitMs: number, signal?: AbortSignal): Promise<Seat | null> {
    const seat = this.#find(owner)
    if (seat || this.#closed || signal?.aborted || this.#waiting.size >= WAITING_MOST) return seat
    return new Promise((done) => {
      const resolve = (found: Seat | null) => {
        cancel()
        signal?.removeEventListener('abort', giveUp)
        this.#waiting.delete(waiting)
        done(found)
      }
      const giveUp = () => resolve(null)
      const waiting = { owner, resolve }
      const cancel = this.#clock.after(waitMs, giveUp)
      signal?.addEventListener('abort', giveUp, { once: true })
      this.#waiting.add(waiting)
    })
  }

  giveBack(seat: Seat, reusable: boolean): void {
    seat.busy = false
    seat.calls++
    seat.idleSince = this.#clock.now()
    const keep = reusable && this.#seats.has(seat) && seat.calls < CALLS_MOST
    if (keep) seat.keepAwake = this.#clock.after(IDLE_MS, () => void this.#drop(seat))
    else void this.#drop(seat)
    this.#serveWaiting()
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { resolve } of this.#waiting) resolve(null)
    await Promise.all([...this.#seats].map((seat) => this.#drop(seat)))
  }

  #serveWaiting(): void {
    for (const { owner, resolve } of this.#waiting) {
      const seat = this.#find(owner)
      if (seat) resolve(seat)
    }
  }

  #find(owner: Owner): Seat | null {
    if (this.#closed) return null
    const warm = this.#idle().find((seat) => isOf(seat, owner) && seat.code.digest === owner.code.digest)
    if (!warm) return this.#open(owner)
    warm.keepAwake()
    warm.busy = true
    return warm
  }

  /** One more process; where a share is full, the one of it that was idle longest makes room. */
  #open(owner: Owner): Seat | null {
    const full = this.#fullShare(owner)
    const oldest = this.#idle().find((seat) => full?.includes(seat))
    if (full && !oldest) return null
    if (oldest) void this.#drop(oldest)
    const seat: Seat = {
      ...owner,
      process: this.#start(owner),
      busy: true,
      idleSince: 0,
      calls: 0,
      keepAwake: () => {},
    }
    this.#seats.add(seat)
    void this.#forgetWhenGone(seat)
    return seat
  }

  /** The seats of the smallest circle around the owner that holds no more of them. */
  #fullShare(owner: Owner): Seat[] | null {
    const all = [...this.#seats]
    const ofProject = all.filter((seat) => seat.projectId === owner.projectId)
    const ofWedge = ofProject.filter((seat) => isOf(seat, owner))
    if (ofWedge.length >= PER_WEDGE) return ofWedge
    if (ofProject.length >= PER_PROJECT) return ofProject
    return all.length >= IN_ALL ? all : null
  }

  /** Oldest first. */
  #idle(): Seat[] {
    return [...this.#seats].filter((seat) => !seat.busy).sort((a, b) => a.idleSince - b.idleSince)
  }

  async #forgetWhenGone(seat: Seat): Promise<void> {
    try {
      await (await seat.process).gone
    } catch {
      // It never started: the call that waits for it tells why.
    }
    seat.keepAwake()
    this.#seats.delete(seat)
    this.#serveWaiting()
  }

  async #drop(seat: Seat): Promise<void> {
    seat.keepAwake()
    this.#seats.delete(seat)
    await seat.process.then(
      (process) => process.kill(),
      () => {},
    )
  }
}

const isOf = (seat: Owner, owner: Owner) => seat.projectId === owner.projectId && seat.wedge === owner.wedge
