import { Worker } from 'node:worker_threads'
import { errorMessage } from '../base/error-message.ts'
import { Problem } from '../base/problem.ts'

const JOB_TIMEOUT_MS = 60_000
/** A thread takes some megabytes, so one without jobs ends. */
const IDLE_MS = 30_000
/** A last resort, because V8 may end the whole process near its limit: jobs must stay far below. */
const MAX_HEAP_MB = 1024

/** A mail can take seconds. Slack does not wait so long for an answer, and does not repeat the click on a button. */
export interface ParserThreads {
  calls: WorkerThread
  mails: WorkerThread
}

/** What a thread answers for a job: its result, or why there is none. */
export type JobAnswer<Result> = { result: Result } | { error: string; problem?: { status: number; message: string } }

/**
 * Runs jobs in a thread, one after the other, so that the event loop of the service goes on. The thread starts with the
 * first job. It is stopped when a job takes too long or too much memory, and the next job gets a new one.
 */
export class WorkerThread {
  readonly #program: string
  readonly #timeoutMs: number
  #worker: Worker | null = null
  #lastJob: Promise<unknown> = Promise.resolve()
  #idle: NodeJS.Timeout | undefined
  #isClosed = false

  /** `program` is the file that the thread runs. The limits are real time, because they protect the processor. */
  constructor(program: string, timeoutMs = JOB_TIMEOUT_MS) {
    this.#program = program
    this.#timeoutMs = timeoutMs
  }

  /** The buffers move to the thread, and are empty here afterwards. */
  run<Result>(job: unknown, buffers: readonly ArrayBuffer[]): Promise<Result> {
    const result = this.#lastJob.then(() => this.#runNext<Result>(job, buffers))
    this.#lastJob = result.catch(() => {})
    return result
  }

  /** Refuses the jobs that wait, and all further ones, with a 503. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#stop()
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#idle)
    const worker = this.#worker
    this.#worker = null
    await worker?.terminate()
  }

  async #runNext<Result>(job: unknown, buffers: readonly ArrayBuffer[]): Promise<Result> {
    if (this.#isClosed) throw unavailable()
    clearTimeout(this.#idle)
    this.#worker ??= this.#start()
    try {
      return toResult(await answerOf<Result>(this.#worker, this.#timeoutMs, job, buffers))
    } catch (error) {
      if (error instanceof NoAnswer) await this.#stop()
      throw error instanceof NoAnswer ? error.cause : error
    } finally {
      this.#idle = setTimeout(() => void this.#stop(), IDLE_MS).unref()
    }
  }

  /** Without the settings of the process: the thread reads what strangers have sent. */
  #start(): Worker {
    const resourceLimits = { maxOldGenerationSizeMb: MAX_HEAP_MB }
    const worker = new Worker(this.#program, { env: {}, execArgv: [], argv: [], resourceLimits })
    const clearWorker = () => {
      if (this.#worker === worker) this.#worker = null
    }
    worker.on('error', clearWorker).on('exit', clearWorker)
    worker.unref()
    return worker
  }
}

/** The job may still run, or the thread has ended. */
class NoAnswer extends Error {}

function answerOf<Result>(
  worker: Worker,
  timeoutMs: number,
  job: unknown,
  buffers: readonly ArrayBuffer[],
): Promise<JobAnswer<Result>> {
  return new Promise<JobAnswer<Result>>((resolve, reject) => {
    const fail = (cause: Error) => finish(() => reject(new NoAnswer('the thread did not answer', { cause })))
    const onMessage = (answer: JobAnswer<Result>) => finish(() => resolve(answer))
    const onError = (error: Error) => fail(describeError(error))
    const onExit = () => fail(unavailable())
    let turns = 0
    // Counted in turns, so that the time in which the machine was suspended is one turn.
    const timer = setInterval(
      () => ++turns === TIMEOUT_TURNS && fail(unreadable('takes too long')),
      timeoutMs / TIMEOUT_TURNS,
    )
    worker.on('message', onMessage).on('messageerror', onError).on('error', onError).on('exit', onExit)
    worker.postMessage(job, [...buffers])
    function finish(settle: () => void) {
      clearInterval(timer)
      worker.off('message', onMessage).off('messageerror', onError).off('error', onError).off('exit', onExit)
      settle()
    }
  })
}

const TIMEOUT_TURNS = 20

/** An error that no parser caught is one of the content, unless the program itself is incomplete. */
function describeError(error: Error): Problem {
  const code = 'code' in error ? error.code : null
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return unreadable('takes too much memory')
  const isOutage = code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND' || code === 'ERR_WORKER_INIT_FAILED'
  return isOutage ? unavailable() : unreadable(`failed: ${errorMessage(error)}`)
}

const unavailable = () => new Problem(503, 'the parser is not available', { headers: { 'retry-after': '5' } })

const unreadable = (reason: string) => new Problem(422, `reading the content ${reason}`)

/** Where a job runs in this thread or in another, its failure is data: a class is not the same in two programs. */
export async function runJob<Result>(job: () => Result | Promise<Result>): Promise<JobAnswer<Result>> {
  try {
    return { result: await job() }
  } catch (error) {
    const problem = error instanceof Problem ? { status: error.status, message: error.message } : undefined
    return { error: errorMessage(error), ...(problem && { problem }) }
  }
}

export function toResult<Result>(answer: JobAnswer<Result>): Result {
  if ('result' in answer) return answer.result
  throw answer.problem ? new Problem(answer.problem.status, answer.problem.message) : new Error(answer.error)
}
