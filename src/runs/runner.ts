import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { tokenHash } from '../base/tokens.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { Loop } from '../ctx/loop.ts'
import { sleep } from '../ctx/world.ts'
import type { PipePlane } from '../http/pipe-plane.ts'
import type { SandboxDriver } from '../sandbox/driver.ts'
import type { ClaimedTask, RunStarter } from '../lifecycle/claimed-task.ts'
import { endTask } from '../lifecycle/end-task.ts'
import type { QueuedTask } from '../store/tables.ts'
import { executeRun, createRunStarter, type RunEnvironment } from './execute-run.ts'
import { CellPool } from './cell-pool.ts'
import { claimTasks } from './claim-tasks.ts'
import { INTERRUPTED_ENDING } from './replica-lease.ts'
import type { TaskRun } from './task-run.ts'
import { type RunnerSlots, createTaskStarter } from '../lifecycle/start-on-create.ts'

/** Queued work that no bell told of is found by looking. */
const POLL_INTERVAL_MS = 1_000
/** For each place, runs that wait for a person in a cell of their own: each is a process. */
const MAX_WAITING_RUNS_PER_SLOT = 8
const DRAIN_TIMEOUT_MS = 10_000
/** A run whose end cannot be written must not hold the process. */
const FINAL_WRITE_TIMEOUT_MS = 3_000

/** Takes tasks from the queue and carries them out, as many at a time as the deployment allows. */
export class Runner implements Loop, RunnerSlots {
  readonly pool: CellPool
  readonly #ctx: Ctx
  readonly #place: RunEnvironment
  readonly #starter: RunStarter
  readonly #doors: WeakMap<Socket, string>
  readonly #runs = new Set<TaskRun>()
  /** What is carried out, and the task of each. */
  readonly #carrying = new Map<Promise<void>, string>()
  #turn = ''
  #claiming: Promise<void> | null = null
  #again = false
  /** Whether the last look left nothing in the queue: then only a bell, or time, can bring more. */
  #emptied = false
  /** Places that are kept for what a look into the queue may find. */
  #promised = 0
  readonly #stopping = new AbortController()
  #unhear = () => {}
  #cancelPoll = () => {}

  /** `plane` answers the agents: over the sockets of their cells, and over their pipes. */
  constructor(
    ctx: Ctx,
    driver: SandboxDriver,
    agentDir: string,
    plane: { http: RequestListener; lines: PipePlane<TaskRun> },
  ) {
    this.#ctx = ctx
    this.#doors = new WeakMap()
    this.pool = new CellPool({ ctx, driver, agentDir, onRequest: plane.http, cellIds: this.#doors })
    const place = { ctx, pool: this.pool, sandbox: driver.kind, answerPipe: plane.lines }
    this.#place = { ...place, stopping: this.#stopping.signal, registerRun: (run) => this.#admit(run) }
    this.#starter = createRunStarter(this.#place)
  }

  start(): void {
    this.#ctx.taskStarter.take = createTaskStarter(this.#ctx, this.#starter, this, this.#stopping.signal)
    this.pool.warmUp(this.pool.usesCustomAgent ? 'custom' : 'harness')
    this.#unhear = this.#ctx.notifications.subscribe('tasks', () => this.#claim())
    this.#poll()
  }

  /** Takes no new work, gives what runs ten seconds, then ends it as interrupted. Queued tasks stay queued. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#unhear()
    this.#cancelPoll()
    await this.#claiming
    await Promise.race([Promise.allSettled(this.#carrying.keys()), sleep(this.#ctx.world.clock, DRAIN_TIMEOUT_MS)])
    for (const run of this.#ctx.liveRuns.all()) {
      // With the store away nobody can write it now; whoever finds this replica silent will.
      const ending = inTx(this.#ctx, (tx) => endTask(tx, run.taskId, INTERRUPTED_ENDING, run.epoch))
      await ending.catch((err) => this.#ctx.world.log.error({ err, task: run.taskId }, 'run not ended'))
      run.end('interrupted')
    }
    await Promise.race([
      Promise.allSettled(this.#carrying.keys()),
      sleep(this.#ctx.world.clock, FINAL_WRITE_TIMEOUT_MS),
    ])
    await this.pool.close()
  }

  /** The run that a token belongs to, if it came through the door of that run's own cell. */
  findRunByToken(token: string, kind: 'task' | 'gate', door: Socket): TaskRun | undefined {
    const cellId = this.#doors.get(door)
    // A cell with a door has one run.
    const run = cellId ? [...this.#runs].find((one) => one.cellId === cellId) : undefined
    const good = kind === 'gate' ? run?.gateToken : run?.taskToken
    // By hash: how long it takes to compare them says nothing about a token.
    return good && tokenHash(good) === tokenHash(token) ? run : undefined
  }

  /** Whether the agent of the run may still ask for anything. */
  isRunActive(run: TaskRun): boolean {
    return this.#runs.has(run) && run.endedBy === null
  }

  /** The tasks that are carried out here: from before their runs are known until their ends are written. */
  executingTaskIds(): Set<string> {
    return new Set(this.#carrying.values())
  }

  hasFreeSlot(): boolean {
    return this.#emptied && this.#free() > this.#promised && !this.#stopping.signal.aborted
  }

  reserveSlot(task: QueuedTask, coming: Promise<ClaimedTask | null>): void {
    // It was this project's turn: among those who will wait, others come first.
    this.#turn = task.project_id
    this.#carry(task.id, coming)
  }

  #poll(): void {
    this.#claim()
    this.#cancelPoll = this.#ctx.world.clock.after(POLL_INTERVAL_MS, () => this.#poll())
  }

  /** One claim at a time; a bell that rings meanwhile is heard after it. */
  #claim(): void {
    if (this.#claiming) {
      this.#again = true
      return
    }
    this.#again = false
    this.#claiming = this.#claimFree().finally(() => {
      this.#claiming = null
      if (this.#again) this.#claim()
    })
  }

  /** A place is free again. */
  #claimMore(): void {
    if (!this.#emptied) this.#claim()
  }

  async #claimFree(): Promise<void> {
    const free = this.#free()
    // Whoever waits in the queue now is looked for when a place is free again.
    if (free <= 0) this.#emptied = false
    if (free <= 0 || this.#stopping.signal.aborted) return
    // Where nobody had to wait so far, half of the places stay for those who come while the queue is looked at: it
    // takes a while, and they would have to wait for the next look.
    this.#promised = this.#emptied ? Math.ceil(free / 2) : free
    try {
      const { tasks, turn } = await claimTasks(
        this.#ctx,
        this.#turn,
        this.#promised,
        this.#starter,
        this.#place.stopping,
      )
      this.#turn = turn
      this.#emptied = tasks.length < this.#promised
      this.#again ||= !this.#emptied
      for (const claimed of tasks) this.#carry(claimed.task.id, Promise.resolve(claimed))
    } catch (error) {
      this.#emptied = false
      this.#ctx.world.log.error({ err: error }, 'claim failed')
    } finally {
      this.#promised = 0
    }
  }

  /** A run that waits for a person leaves its place to another, while the processes that wait so are not too many. */
  #free(): number {
    const { maxConcurrentTasks } = this.#ctx.config
    let shared = 0
    let own = 0
    for (const { workingTime: time, hasOwnCell } of this.#runs) {
      if (!time.isWaiting) continue
      if (hasOwnCell) own++
      else shared++
    }
    const waiting = shared + Math.min(own, MAX_WAITING_RUNS_PER_SLOT * maxConcurrentTasks)
    return maxConcurrentTasks - (this.#carrying.size - waiting)
  }

  #carry(taskId: string, coming: Promise<ClaimedTask | null>): void {
    const carryOutWhatComes = async () => {
      const claimed = await coming
      if (claimed) await executeRun(this.#place, claimed)
    }
    const carrying = carryOutWhatComes().finally(() => {
      this.#carrying.delete(carrying)
      this.#claimMore()
    })
    this.#carrying.set(carrying, taskId)
  }

  #admit(run: TaskRun): () => void {
    this.#ctx.liveRuns.add(run)
    this.#runs.add(run)
    const unhear = this.#ctx.notifications.subscribe(`task:${run.taskId}`, () => run.end('cancelled'))
    run.workingTime.onWait = () => this.#claimMore()
    return () => {
      unhear()
      this.#ctx.liveRuns.remove(run)
      this.#runs.delete(run)
    }
  }
}
