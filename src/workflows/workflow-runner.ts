import type { Json } from '../base/json.ts'
import { badRequest, notFound, Problem } from '../base/problem.ts'
import { schemaErrors, type SchemaError } from '../contract/output-schema.ts'
import type { WedgeManifest, Wedge } from '../contract/wedge-manifest.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { SandboxDriver } from '../sandbox/driver.ts'
import { type PooledProcess, WorkflowPool } from './workflow-pool.ts'
import { type WorkflowOutcome, startWorkflowProcess, type WorkflowProcess } from './workflow-process.ts'

const MAX_ERROR_CHARS = 500

/** Runs the declared workflows of wedges, each wedge and project in sandboxed processes of its own that stay warm. */
export class WorkflowRunner {
  readonly #ctx: Pick<Ctx, 'config' | 'world'>
  readonly #pool: WorkflowPool

  /** `agentDir` holds the bundled program `workflow-cell.cjs`. */
  constructor(ctx: Pick<Ctx, 'config' | 'world'>, driver: SandboxDriver, agentDir: string) {
    const { clock } = ctx.world
    this.#ctx = ctx
    this.#pool = new WorkflowPool(clock, ({ code: { files } }) => {
      const nonce = Buffer.from(ctx.world.random(16)).toString('hex')
      return startWorkflowProcess({ driver, agentDir, clock }, { nonce, files })
    })
  }

  /** The result, checked against the declaration, or a Problem that says whose fault it was. */
  async call(wedge: Wedge, projectId: string, name: string, args: Json, signal?: AbortSignal): Promise<Json> {
    const workflow = wedge.manifest.workflows.find((declared) => declared.name === name)
    if (!workflow) throw notFound('workflow')
    const wrong = schemaErrors(workflow.input_schema ?? {}, args)
    if (wrong.length > 0) throw badRequest(`args of workflow '${name}': ${describeSchemaErrors(wrong)}`)
    const outcome = await this.#run(wedge, projectId, name, args, signal)
    return this.#judge(workflow, outcome)
  }

  /** How many processes there are now. */
  get processCount(): number {
    return this.#pool.size
  }

  /** Ends every process, and with it the call that is under way in it. */
  close(): Promise<void> {
    return this.#pool.close()
  }

  async #run(
    wedge: Wedge,
    projectId: string,
    name: string,
    args: Json,
    signal?: AbortSignal,
  ): Promise<WorkflowOutcome> {
    const timeoutMs = this.#ctx.config.workflowTimeoutMs
    const owner = { projectId, wedge: wedge.slug, code: wedge.code }
    // Twice the time of a call: whoever is before us in the queue has ended by then, or very many are.
    const seat = await this.#pool.acquire(owner, 2 * timeoutMs, signal)
    if (!seat && signal?.aborted) return { kind: 'cancelled' }
    if (!seat) throw new Problem(503, `workflow '${name}' is busy`, { headers: { 'retry-after': '1' } })
    return this.#runIn(seat, name, args, signal)
  }

  async #runIn(seat: PooledProcess, name: string, args: Json, signal?: AbortSignal): Promise<WorkflowOutcome> {
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
      this.#pool.release(seat, reusable)
    }
  }

  async #started(seat: PooledProcess, name: string): Promise<WorkflowProcess> {
    try {
      return await seat.process
    } catch (error) {
      this.#ctx.world.log.error({ err: error, project: seat.projectId, workflow: name }, 'no process for workflows')
      throw new Problem(503, `workflow '${name}' could not be started`, { headers: { 'retry-after': '1' } })
    }
  }

  #judge({ name, output_schema }: WedgeManifest['workflows'][number], outcome: WorkflowOutcome): Json {
    if (outcome.kind === 'timed out') {
      throw new Problem(504, `workflow '${name}' took longer than ${this.#ctx.config.workflowTimeoutMs} ms`)
    }
    if (outcome.kind === 'cancelled') throw new Problem(409, `workflow '${name}' was cancelled`)
    if (outcome.kind === 'crashed')
      throw workflowFailed(name, 'its process ended, perhaps because it used too much memory')
    if (outcome.kind === 'error') throw workflowFailed(name, outcome.message)
    const wrong = schemaErrors(output_schema ?? {}, outcome.value)
    if (wrong.length > 0) throw new Problem(422, `result of workflow '${name}': ${describeSchemaErrors(wrong)}`)
    return outcome.value
  }
}

function workflowFailed(name: string, message: string): Problem {
  const line = message.replaceAll(/\s+/g, ' ').trim()
  return new Problem(422, `workflow '${name}' failed: ${line.slice(0, MAX_ERROR_CHARS) || 'it gave no reason'}`)
}

const describeSchemaErrors = (errors: SchemaError[]) =>
  errors
    .slice(0, 3)
    .map(({ path, message }) => `${path} ${message}`)
    .join('; ')
