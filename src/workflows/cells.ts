import type { Json } from '../base/json.ts'
import { badRequest, notFound, Problem } from '../base/problem.ts'
import { schemaErrors, type SchemaError } from '../base/schema.ts'
import type { Manifest, Wedge } from '../base/wedge.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Driver } from '../sandbox/driver.ts'
import { type Seat, WorkflowPool } from './pool.ts'
import { type Outcome, startProcess, type WorkflowProcess } from './process.ts'

const MESSAGE_MOST = 500

/** Runs the declared workflows of wedges, each wedge and project in sandboxed processes of its own that stay warm. */
export class WorkflowCells {
  readonly #ctx: Pick<Ctx, 'config' | 'world'>
  readonly #pool: WorkflowPool

  /** `agentDir` holds the bundled program `workflow-cell.cjs`. */
  constructor(ctx: Pick<Ctx, 'config' | 'world'>, driver: Driver, agentDir: string) {
    const { clock } = ctx.world
    this.#ctx = ctx
    this.#pool = new WorkflowPool(clock, ({ code: { files } }) => {
      const nonce = Buffer.from(ctx.world.random(16)).toString('hex')
      return startProcess({ driver, agentDir, clock }, { nonce, files })
    })
  }

  /** The result, checked against the declaration, or a Problem that says whose fault it was. */
  async call(wedge: Wedge, projectId: string, name: string, args: Json, signal?: AbortSignal): Promise<Json> {
    const workflow = wedge.manifest.workflows.find((declared) => declared.name === name)
    if (!workflow) throw notFound('workflow')
    const wrong = schemaErrors(workflow.input_schema ?? {}, args)
    if (wrong.length > 0) throw badRequest(`args of workflow '${name}': ${sentence(wrong)}`)
    const outcome = await this.#run(wedge, projectId, name, args, signal)
    return this.#judge(workflow, outcome)
  }

  /** How many processes there are now. */
  get processes(): number {
    return this.#pool.size
  }

  /** Ends every process, and with it the call that is under way in it. */
  close(): Promise<void> {
    return this.#pool.close()
  }

  async #run(wedge: Wedge, projectId: string, name: string, args: Json, signal?: AbortSignal): Promise<Outcome> {
    const timeoutMs = this.#ctx.config.workflowTimeoutMs
    const owner = { projectId, wedge: wedge.slug, code: wedge.code }
    // Twice the time of a call: whoever is before us in the queue has ended by then, or very many are.
    const seat = await this.#pool.take(owner, 2 * timeoutMs, signal)
    if (!seat && signal?.aborted) return { kind: 'cancelled' }
    if (!seat) throw new Problem(503, `workflow '${name}' is busy`, { headers: { 'retry-after': '1' } })
    return this.#runIn(seat, name, args, signal)
  }

  async #runIn(seat: Seat, name: string, args: Json, signal?: AbortSignal): Promise<Outcome> {
    let reusable = false
    try {
      const process = await this.#started(seat, name)
      reusable = signal?.aborted ?? false
      if (reusable) return { kind: 'cancelled' }
      // The time starts here: how long the machine takes to start a process is not the workflow's doing.
      const outcome = await process.call(name, args, this.#ctx.config.workflowTimeoutMs, signal)
      reusable = 'spent' in outcome && !outcome.spent
      return outcome
    } finally {
      this.#pool.giveBack(seat, reusable)
    }
  }

  async #started(seat: Seat, name: string): Promise<WorkflowProcess> {
    try {
      return await seat.process
    } catch (error) {
      this.#ctx.world.log.error({ err: error, project: seat.projectId, workflow: name }, 'no process for workflows')
      throw new Problem(503, `workflow '${name}' could not be started`, { headers: { 'retry-after': '1' } })
    }
  }

  #judge({ name, output_schema }: Manifest['workflows'][number], outcome: Outcome): Json {
    if (outcome.kind === 'timed out') {
      throw new Problem(504, `workflow '${name}' took longer than ${this.#ctx.config.workflowTimeoutMs} ms`)
    }
    if (outcome.kind === 'cancelled') throw new Problem(409, `workflow '${name}' was cancelled`)
    if (outcome.kind === 'crashed') throw failed(name, 'its process ended, perhaps because it used too much memory')
    if (outcome.kind === 'error') throw failed(name, outcome.message)
    const wrong = schemaErrors(output_schema ?? {}, outcome.value)
    if (wrong.length > 0) throw new Problem(422, `result of workflow '${name}': ${sentence(wrong)}`)
    return outcome.value
  }
}

function failed(name: string, message: string): Problem {
  const line = message.replaceAll(/\s+/g, ' ').trim()
  return new Problem(422, `workflow '${name}' failed: ${line.slice(0, MESSAGE_MOST) || 'it gave no reason'}`)
}

const sentence = (errors: SchemaError[]) =>
  errors
    .slice(0, 3)
    .map(({ path, message }) => `${path} ${message}`)
    .join('; ')
