import type { WedgeCode } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { Clock } from '../../platform/ctx/world.ts'
import type { WorkflowProcess } from './workflow-process.ts'

/** Identifies who may use a process: never two projects or two wedges, because a realm does not stop hostile code. */
export interface ProcessOwner {
  projectId: string
  wedge: string
  /** A run keeps the code that it started with, so two versions of a wedge may run at the same time. */
  code: WedgeCode
}

/** A process that has started or is starting. It serves one call at a time. */
export interface PooledProcess extends ProcessOwner {
  process: Promise<WorkflowProcess>
  busy: boolean
  idleSince: number
  calls: number
  /** Cancels the timer that ends an idle process. */
  cancelIdleTimeout: () => void
}

interface WaitingCall {
  owner: ProcessOwner
  resolve: (pooled: PooledProcess | null) => void
}

const MAX_PROCESSES_PER_WEDGE = 4
const MAX_PROCESSES_PER_PROJECT = 8
const MAX_PROCESSES = 16
const MAX_WAITING_CALLS = 256
const IDLE_TIMEOUT_MS = 60_000
/** A process is replaced after this many calls, so that leaks do not add up. */
const MAX_CALLS_PER_PROCESS = 1000

/** A small number of warm processes. Calls that find none free wait in order. */
export class WorkflowPool {
  readonly #clock: Clock
  readonly #start: (owner: ProcessOwner) => Promise<WorkflowProcess>
  readonly #processes = new Set<PooledProcess>()
  readonly #waiting = new Set<WaitingCall>()
  #closed = false

  constructor(clock: Clock, start: (owner: ProcessOwner) => Promise<WorkflowProcess>) {
    this.#clock = clock
    this.#start = start
  }

  get size(): number {
    return this.#processes.size
  }

  /** A process for one call, to be released after it; null if none became free in time or the signal fired. */
  async acquire(owner: ProcessOwner, waitMs: number, signal?: AbortSignal): Promise<PooledProcess | null> {
    const pooled = this.#find(owner)
    if (pooled || this.#closed || signal?.aborted || this.#waiting.size >= MAX_WAITING_CALLS) return pooled
    return new Promise((done) => {
      const resolve = (found: PooledProcess | null) => {
        cancel()
        signal?.removeEventListener('abort', cancelWait)
        this.#waiting.delete(waiting)
        done(found)
      }
      const cancelWait = () => resolve(null)
      const waiting = { owner, resolve }
      const cancel = this.#clock.after(waitMs, cancelWait)
      signal?.addEventListener('abort', cancelWait, { once: true })
      this.#waiting.add(waiting)
    })
  }

  release(pooled: PooledProcess, reusable: boolean): void {
    pooled.busy = false
    pooled.calls++
    pooled.idleSince = this.#clock.now()
    const keep = reusable && this.#processes.has(pooled) && pooled.calls < MAX_CALLS_PER_PROCESS
    if (keep) pooled.cancelIdleTimeout = this.#clock.after(IDLE_TIMEOUT_MS, () => void this.#drop(pooled))
    else void this.#drop(pooled)
    this.#serveWaiting()
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { resolve } of this.#waiting) resolve(null)
    await Promise.all([...this.#processes].map((pooled) => this.#drop(pooled)))
  }

  #serveWaiting(): void {
    for (const { owner, resolve } of this.#waiting) {
      const pooled = this.#find(owner)
      if (pooled) resolve(pooled)
    }
  }

  #find(owner: ProcessOwner): PooledProcess | null {
    if (this.#closed) return null
    const warm = this.#idle().find((pooled) => isSameOwner(pooled, owner) && pooled.code.digest === owner.code.digest)
    if (!warm) return this.#open(owner)
    warm.cancelIdleTimeout()
    warm.busy = true
    return warm
  }

  /** Starts a process. If a limit is reached, the process that was idle longest within that limit is ended first. */
  #open(owner: ProcessOwner): PooledProcess | null {
    const atLimit = this.#atLimit(owner)
    const oldest = this.#idle().find((pooled) => atLimit?.includes(pooled))
    if (atLimit && !oldest) return null
    if (oldest) void this.#drop(oldest)
    const pooled: PooledProcess = {
      ...owner,
      process: this.#start(owner),
      busy: true,
      idleSince: 0,
      calls: 0,
      cancelIdleTimeout: () => {},
    }
    this.#processes.add(pooled)
    void this.#removeWhenExited(pooled)
    return pooled
  }

  /** The processes of the narrowest limit that the owner has reached: per wedge, per project or in total. */
  #atLimit(owner: ProcessOwner): PooledProcess[] | null {
    const all = [...this.#processes]
    const ofProject = all.filter((pooled) => pooled.projectId === owner.projectId)
    const ofWedge = ofProject.filter((pooled) => isSameOwner(pooled, owner))
    if (ofWedge.length >= MAX_PROCESSES_PER_WEDGE) return ofWedge
    if (ofProject.length >= MAX_PROCESSES_PER_PROJECT) return ofProject
    return all.length >= MAX_PROCESSES ? all : null
  }

  /** Oldest first. */
  #idle(): PooledProcess[] {
    return [...this.#processes].filter((pooled) => !pooled.busy).sort((a, b) => a.idleSince - b.idleSince)
  }

  async #removeWhenExited(pooled: PooledProcess): Promise<void> {
    try {
      await (await pooled.process).exited
    } catch {
      // It never started; the call that waits for it reports the error.
    }
    pooled.cancelIdleTimeout()
    this.#processes.delete(pooled)
    this.#serveWaiting()
  }

  async #drop(pooled: PooledProcess): Promise<void> {
    pooled.cancelIdleTimeout()
    this.#processes.delete(pooled)
    await pooled.process.then(
      (process) => process.kill(),
      () => {},
    )
  }
}

const isSameOwner = (pooled: ProcessOwner, owner: ProcessOwner) =>
  pooled.projectId === owner.projectId && pooled.wedge === owner.wedge
