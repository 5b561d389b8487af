import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { tokenHash } from '../../../platform/base/tokens.ts'
import { takesTask } from '../../../platform/config/role-settings.ts'
import { type Ctx, inTx } from '../../../platform/ctx/ctx.ts'
import type { LiveRun } from '../../../platform/ctx/live-runs.ts'
import type { Loop } from '../../../platform/ctx/loop.ts'
import { sleep } from '../../../platform/ctx/world.ts'
import type { PipePlane } from '../../../platform/http/pipe-plane.ts'
import type { SandboxDriver } from '../../sandbox/driver.ts'
import type { ClaimedTask, RunStarter } from '../../../approvals/lifecycle/claimed-task.ts'
import type { QueuedTask } from '../../../platform/store/tables.ts'
import { executeRun, createRunStarter, type RunEnvironment } from './execute-run.ts'
import { CellPool } from '../cells/cell-pool.ts'
import { type ClaimQueries, createClaimQueries } from '../claim/claim-queries.ts'
import { claimTasks } from '../claim/claim-tasks.ts'
import { releaseOrEndTasks, toBatches } from '../replicas/dead-replicas.ts'
import { isLeaseRecent, renewOldLease, type ReplicaLease } from '../replicas/replica-lease.ts'
import { endRun } from './run-ending.ts'
import type { TaskRun } from './task-run.ts'
import { type RunnerSlots, createTaskStarter } from '../../../approvals/lifecycle/start-on-create.ts'

/** Finds queued tasks whose hint was lost. */
const POLL_INTERVAL_MS = 1_000
const DRAIN_TIMEOUT_MS = 10_000
/** A run whose end cannot be stored must not keep the process alive. */
const FINAL_WRITE_TIMEOUT_MS = 3_000

/** Claims queued tasks and executes them, up to `SVC_MAX_CONCURRENT_TASKS` at a time. */
export class Runner implements Loop, RunnerSlots {
  readonly pool: CellPool
  readonly #ctx: Ctx
  readonly #lease: ReplicaLease
  readonly #environment: RunEnvironment
  readonly #starter: RunStarter
  readonly #queries: ClaimQueries
  readonly #cellIds: WeakMap<Socket, string>
  readonly #runs = new Set<TaskRun>()
  /** The executions in progress, with their task ids. */
  readonly #executing = new Map<Promise<void>, string>()
  #lastProject = ''
  #claiming: Promise<void> | null = null
  #claimAgain = false
  /** The last claim left the queue empty, so the next claim waits for a hint or the poll. */
  #isQueueEmpty = false
  /** Slots that are reserved for the claim in progress. */
  #reservedSlots = 0
  readonly #stopping = new AbortController()
  #onFreeSlot = () => {}
  #unsubscribe = () => {}
  #cancelPoll = () => {}

  /** `plane` answers the requests of agents, over the sockets of their cells and over their pipes. */
  constructor(
    ctx: Ctx,
    driver: SandboxDriver,
    agentDir: string,
    lease: ReplicaLease,
    plane: { http: RequestListener; lines: PipePlane<TaskRun> },
  ) {
    this.#ctx = ctx
    this.#lease = lease
    this.#cellIds = new WeakMap()
    this.pool = new CellPool({ ctx, driver, agentDir, onRequest: plane.http, cellIds: this.#cellIds })
    const environment = { ctx, pool: this.pool, sandbox: driver.kind, answerPipe: plane.lines }
    this.#environment = {
      ...environment,
      stopping: this.#stopping.signal,
      registerRun: (run) => this.#register(run),
      onRunWaits: () => this.#claimIfQueued(),
    }
    this.#starter = createRunStarter(this.#environment)
    this.#queries = createClaimQueries(ctx.config)
  }

  start(): void {
    this.#ctx.taskStarter.tryStart = createTaskStarter(this.#ctx, this.#starter, this, this.#stopping.signal)
    this.pool.warmUp(this.#ctx.config.agentCommand === null ? 'harness' : 'custom')
    this.#unsubscribe = this.#ctx.changeHints.subscribe({ topic: 'task-queued' }, () => this.#startClaim())
    this.#poll()
  }

  /**
   * Claims no more tasks, waits ten seconds for the runs, but not for those that wait for an approval. Then releases those
   * that another process can continue and ends the others as interrupted. Queued tasks stay queued.
   */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#unsubscribe()
    this.#cancelPoll()
    await this.#claiming
    await Promise.race([this.#whenAllRunsWait(), sleep(this.#ctx.world.clock, DRAIN_TIMEOUT_MS)])
    const held = [...this.#runs].map(({ facts }) => ({
      id: facts.taskId,
      project_id: facts.projectId,
      epoch: facts.epoch,
    }))
    await Promise.race([
      Promise.allSettled([...this.#runs].map(({ log }) => log.flush())),
      sleep(this.#ctx.world.clock, FINAL_WRITE_TIMEOUT_MS),
    ])
    for (const run of this.#runs) endRun(run, 'interrupted')
    await this.#whenNoRunWorks()
    for (const tasks of toBatches(held)) {
      // If the database is unavailable, another replica ends the tasks when the lease of this one has expired.
      const ending = inTx(this.#ctx, (tx) => releaseOrEndTasks(tx, tasks))
      await ending.catch((err) =>
        this.#ctx.world.log.error({ err, tasks: tasks.map(({ id }) => id) }, 'interrupted runs could not be ended'),
      )
    }
    await Promise.race([
      Promise.allSettled(this.#executing.keys()),
      sleep(this.#ctx.world.clock, FINAL_WRITE_TIMEOUT_MS),
    ])
    await this.pool.close()
  }

  /** The run that a token belongs to, if the connection came from the cell of that run. */
  findRunByToken(token: string, kind: 'task' | 'gate', connection: Socket): TaskRun | undefined {
    const cellId = this.#cellIds.get(connection)
    // A cell with a socket has one run.
    const run = cellId ? [...this.#runs].find(({ tokens }) => tokens.cellId === cellId) : undefined
    const valid = run?.tokens[kind]
    // Compares hashes, so that the duration of the comparison reveals nothing about the token.
    return valid && tokenHash(valid) === tokenHash(token) ? run : undefined
  }

  /** Whether the agent of the run may still send requests. */
  isRunActive(run: TaskRun): boolean {
    return this.#runs.has(run) && run.ending.reason === null
  }

  /** The tasks that this replica executes, from their claim until their end is stored. */
  executingTaskIds(): Set<string> {
    return new Set(this.#executing.values())
  }

  /** Executes a task that this replica has claimed but does not execute. */
  executeAgain(claimed: ClaimedTask): void {
    if (!this.#stopping.signal.aborted) this.#execute(claimed.task.id, Promise.resolve(claimed))
  }

  hasFreeSlot(task: QueuedTask): boolean {
    const hasSlot = this.#isQueueEmpty && this.#countFreeSlots() > this.#reservedSlots
    const mayClaim = !this.#stopping.signal.aborted && isLeaseRecent(this.#ctx, this.#lease)
    return hasSlot && mayClaim && takesTask(this.#ctx.config, task) && this.#canTake(task.project_id)
  }

  reserveSlot(task: QueuedTask, claim: Promise<ClaimedTask | null>): void {
    // This project was just served, so waiting tasks of other projects come first.
    this.#lastProject = task.project_id
    this.#execute(task.id, claim)
  }

  #poll(): void {
    this.#startClaim()
    this.#cancelPoll = this.#ctx.world.clock.after(POLL_INTERVAL_MS, () => this.#poll())
  }

  /** One claim at a time; a hint during a claim starts another one after it. */
  #startClaim(): void {
    if (this.#claiming) {
      this.#claimAgain = true
      return
    }
    this.#claimAgain = false
    this.#claiming = this.#fillFreeSlots().finally(() => {
      this.#claiming = null
      if (this.#claimAgain) this.#startClaim()
    })
  }

  /** Called when a slot is free again. */
  #claimIfQueued(): void {
    this.#onFreeSlot()
    if (!this.#isQueueEmpty) this.#startClaim()
  }

  /** Resolves when every run has ended or waits for an approval. */
  #whenAllRunsWait(): Promise<void> {
    return new Promise((resolve) => {
      this.#onFreeSlot = () => {
        if (this.#countFreeSlots() >= this.#ctx.config.maxConcurrentTasks) resolve()
      }
      this.#onFreeSlot()
    })
  }

  /** Resolves when the actions of ended runs have stored their outcomes, which decide whether a task can continue. */
  async #whenNoRunWorks(): Promise<void> {
    const end = Date.now() + FINAL_WRITE_TIMEOUT_MS
    while (Date.now() < end && [...this.#runs].some(({ workingTime }) => workingTime.isWorking))
      await new Promise((resolve) => setTimeout(resolve, 10))
  }

  async #fillFreeSlots(): Promise<void> {
    const free = this.#countFreeSlots()
    // Tasks may be queued now, so the queue is read when a slot is free again.
    if (free <= 0) this.#isQueueEmpty = false
    if (free <= 0 || this.#stopping.signal.aborted) return
    // If the queue was empty, half of the slots stay free for tasks that are created during the claim: these can start
    // at once instead of waiting for the next claim.
    this.#reservedSlots = this.#isQueueEmpty ? Math.ceil(free / 2) : free
    try {
      const { tasks, lastProject } = await claimTasks(
        this.#ctx,
        {
          lastProject: this.#lastProject,
          max: this.#reservedSlots,
          queries: this.#queries,
          starter: this.#starter,
          renewLease: (tx) => renewOldLease(tx, this.#lease),
          canTake: (projectId) => this.#canTake(projectId),
        },
        this.#environment.stopping,
      )
      this.#lastProject = lastProject
      this.#isQueueEmpty = tasks.length < this.#reservedSlots
      this.#claimAgain ||= !this.#isQueueEmpty
      for (const claimed of tasks) this.#execute(claimed.task.id, Promise.resolve(claimed))
    } catch (error) {
      this.#isQueueEmpty = false
      this.#ctx.world.log.error({ err: error }, 'claim failed')
    } finally {
      this.#reservedSlots = 0
    }
  }

  /** A run that waits for an approval uses no slot. */
  #countFreeSlots(): number {
    let waiting = 0
    for (const { workingTime } of this.#runs) if (workingTime.isWaiting) waiting++
    return this.#ctx.config.maxConcurrentTasks - (this.#executing.size - waiting)
  }

  /** Each run that waits in a cell of its own keeps a process, so their number is limited for each project. */
  #canTake(projectId: string): boolean {
    let waiting = 0
    for (const { facts, workingTime } of this.#runs)
      if (facts.projectId === projectId && facts.cellKind !== 'harness' && workingTime.isWaiting) waiting++
    return waiting < this.#ctx.config.maxWaitingRuns
  }

  #execute(taskId: string, claim: Promise<ClaimedTask | null>): void {
    const executeWhenClaimed = async () => {
      const claimed = await claim
      if (claimed) await executeRun(this.#environment, claimed)
    }
    const execution = executeWhenClaimed().finally(() => {
      this.#executing.delete(execution)
      this.#claimIfQueued()
    })
    this.#executing.set(execution, taskId)
  }

  #register(run: TaskRun): () => void {
    const { taskId, projectId, epoch } = run.facts
    const live: LiveRun = { taskId, projectId, epoch, end: (reason) => endRun(run, reason) }
    this.#ctx.liveRuns.add(live)
    this.#runs.add(run)
    const unsubscribe = this.#ctx.changeHints.subscribe({ topic: 'task-ended', id: taskId }, () =>
      endRun(run, 'cancelled'),
    )
    return () => {
      unsubscribe()
      this.#ctx.liveRuns.remove(live)
      this.#runs.delete(run)
    }
  }
}
