import type { WedgeCode } from '../contract/wedge-manifest.ts'
import type { Clock } from '../ctx/world.ts'
import type { WorkflowProcess } from './workflow-process.ts'

/** Whose process it is: never two projects or two wedges in one, because modules keep what they have seen. */
export interface ProcessOwner {
  projectId: string
  wedge: string
  /** A run keeps the code that it began with, so two versions of a wedge may be at work side by side. */
  code: WedgeCode
}

/** A process, or one that is about to be, in the hands of one call at a time. */
export interface PooledProcess extends ProcessOwner {
  process: Promise<WorkflowProcess>
  busy: boolean
  idleSince: number
  calls: number
  /** Stops the clock that ends an idle process. */
  cancelIdleTimeout: () => void
}

interface WaitingCall {
  owner: ProcessOwner
  resolve: (seat: PooledProcess | null) => void
}

const MAX_PROCESSES_PER_WEDGE = 4
const MAX_PROCESSES_PER_PROJECT = 8
const MAX_PROCESSES = 16
const MAX_WAITING_CALLS = 256
const IDLE_TIMEOUT_MS = 60_000
/** A process that leaks is replaced before it harms anyone. */
const MAX_CALLS_PER_PROCESS = 1000

/** Warm processes, few in all: calls that find none free wait in order. */
export class WorkflowPool {
  readonly #clock: Clock
  readonly #start: (owner: ProcessOwner) => Promise<WorkflowProcess>
  readonly #seats = new Set<PooledProcess>()
  readonly #waiting = new Set<WaitingCall>()
  #closed = false

  constructor(clock: Clock, start: (owner: ProcessOwner) => Promise<WorkflowProcess>) {
    this.#clock = clock
    this.#start = start
  }

  get size(): number {
    return this.#seats.size
  }

  /** A seat for one call, to be given back; null when none came free in time or the signal fired. */
  async acquire(owner: ProcessOwner, waitMs: number, signal?: AbortSignal): Promise<PooledProcess | null> {
    const seat = this.#find(owner)
    if (seat || this.#closed || signal?.aborted || this.#waiting.size >= MAX_WAITING_CALLS) return seat
    return new Promise((done) => {
      const resolve = (found: PooledProcess | null) => {
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

  release(seat: PooledProcess, reusable: boolean): void {
    seat.busy = false
    seat.calls++
    seat.idleSince = this.#clock.now()
    const keep = reusable && this.#seats.has(seat) && seat.calls < MAX_CALLS_PER_PROCESS
    if (keep) seat.cancelIdleTimeout = this.#clock.after(IDLE_TIMEOUT_MS, () => void this.#drop(seat))
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

  #find(owner: ProcessOwner): PooledProcess | null {
    if (this.#closed) return null
    const warm = this.#idle().find((seat) => isSameOwner(seat, owner) && seat.code.digest === owner.code.digest)
    if (!warm) return this.#open(owner)
    warm.cancelIdleTimeout()
    warm.busy = true
    return warm
  }

  /** One more process; where a share is full, the one of it that was idle longest makes room. */
  #open(owner: ProcessOwner): PooledProcess | null {
    const full = this.#fullShare(owner)
    const oldest = this.#idle().find((seat) => full?.includes(seat))
    if (full && !oldest) return null
    if (oldest) void this.#drop(oldest)
    const seat: PooledProcess = {
      ...owner,
      process: this.#start(owner),
      busy: true,
      idleSince: 0,
      calls: 0,
      cancelIdleTimeout: () => {},
    }
    this.#seats.add(seat)
    void this.#forgetWhenGone(seat)
    return seat
  }

  /** The seats of the smallest circle around the owner that holds no more of them. */
  #fullShare(owner: ProcessOwner): PooledProcess[] | null {
    const all = [...this.#seats]
    const ofProject = all.filter((seat) => seat.projectId === owner.projectId)
    const ofWedge = ofProject.filter((seat) => isSameOwner(seat, owner))
    if (ofWedge.length >= MAX_PROCESSES_PER_WEDGE) return ofWedge
    if (ofProject.length >= MAX_PROCESSES_PER_PROJECT) return ofProject
    return all.length >= MAX_PROCESSES ? all : null
  }

  /** Oldest first. */
  #idle(): PooledProcess[] {
    return [...this.#seats].filter((seat) => !seat.busy).sort((a, b) => a.idleSince - b.idleSince)
  }

  async #forgetWhenGone(seat: PooledProcess): Promise<void> {
    try {
      await (await seat.process).exited
    } catch {
      // It never started: the call that waits for it tells why.
    }
    seat.cancelIdleTimeout()
    this.#seats.delete(seat)
    this.#serveWaiting()
  }

  async #drop(seat: PooledProcess): Promise<void> {
    seat.cancelIdleTimeout()
    this.#seats.delete(seat)
    await seat.process.then(
      (process) => process.kill(),
      () => {},
    )
  }
}

const isSameOwner = (seat: ProcessOwner, owner: ProcessOwner) =>
  seat.projectId === owner.projectId && seat.wedge === owner.wedge
