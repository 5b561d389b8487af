import type { Json } from '../../platform/base/json.ts'
import { badRequest, notFound, Problem } from '../../platform/base/problem.ts'
import { schemaErrors, type SchemaError } from '../../platform/contract/output-schema.ts'
import type { WedgeManifest, Wedge } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { SandboxDriver } from '../sandbox/driver.ts'
import { type PooledProcess, WorkflowPool } from './workflow-pool.ts'
import { type WorkflowOutcome, startWorkflowProcess, type WorkflowProcess } from './workflow-process.ts'

const MAX_ERROR_CHARS = 500

/** Runs the workflows of wedges in sandboxed processes that are kept warm; each wedge of a project has its own. */
export class WorkflowRunner {
  readonly #ctx: Pick<Ctx, 'config' | 'world'>
  readonly #pool: WorkflowPool

  /** `agentDir` contains the bundled program `workflow-cell.cjs`. */
  constructor(ctx: Pick<Ctx, 'config' | 'world'>, driver: SandboxDriver, agentDir: string) {
    const { clock } = ctx.world
    this.#ctx = ctx
    this.#pool = new WorkflowPool(clock, ({ code: { files } }) => {
      const nonce = Buffer.from(ctx.world.random(16)).toString('hex')
      return startWorkflowProcess({ driver, agentDir, clock }, { nonce, files })
    })
  }

  /** Returns the result after checking it against the declared schema, or throws a Problem. */
  async call(wedge: Wedge, projectId: string, name: string, args: Json, signal?: AbortSignal): Promise<Json> {
    const workflow = wedge.manifest.workflows.find((declared) => declared.name === name)
    if (!workflow) throw notFound('workflow')
    const errors = schemaErrors(workflow.input_schema ?? {}, args)
    if (errors.length > 0) throw badRequest(`args of workflow '${name}': ${describeSchemaErrors(errors)}`)
    const outcome = await this.#run(wedge, projectId, name, args, signal)
    return this.#validate(workflow, outcome)
  }

  /** The current number of processes. */
  get processCount(): number {
    return this.#pool.size
  }

  /** Ends every process and the calls in progress. */
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
    // Twice the timeout of a call: by then the calls before this one have ended, or the queue is very long.
    const pooled = await this.#pool.acquire(owner, 2 * timeoutMs, signal)
    if (!pooled && signal?.aborted) return { kind: 'cancelled' }
    if (!pooled) throw new Problem(503, `workflow '${name}' is busy`, { headers: { 'retry-after': '1' } })
    return this.#runInProcess(pooled, name, args, signal)
  }

  async #runInProcess(pooled: PooledProcess, name: string, args: Json, signal?: AbortSignal): Promise<WorkflowOutcome> {
    let reusable = false
    try {
      const process = await this.#awaitStart(pooled, name)
      reusable = signal?.aborted ?? false
      if (reusable) return { kind: 'cancelled' }
      // The timeout starts here, so that the start of the process does not count against the workflow.
      const outcome = await process.call(name, args, this.#ctx.config.workflowTimeoutMs, signal)
      reusable = 'spent' in outcome && !outcome.spent
      return outcome
    } finally {
      this.#pool.release(pooled, reusable)
    }
  }

  async #awaitStart(pooled: PooledProcess, name: string): Promise<WorkflowProcess> {
    try {
      return await pooled.process
    } catch (error) {
      this.#ctx.world.log.error(
        { err: error, project: pooled.projectId, workflow: name },
        'workflow process did not start',
      )
      throw new Problem(503, `workflow '${name}' could not be started`, { headers: { 'retry-after': '1' } })
    }
  }

  #validate({ name, output_schema }: WedgeManifest['workflows'][number], outcome: WorkflowOutcome): Json {
    if (outcome.kind === 'timed out') {
      throw new Problem(504, `workflow '${name}' took longer than ${this.#ctx.config.workflowTimeoutMs} ms`)
    }
    if (outcome.kind === 'cancelled') throw new Problem(409, `workflow '${name}' was cancelled`)
    if (outcome.kind === 'crashed')
      throw workflowFailed(name, 'its process ended, perhaps because it used too much memory')
    if (outcome.kind === 'error') throw workflowFailed(name, outcome.message)
    const errors = schemaErrors(output_schema ?? {}, outcome.value)
    if (errors.length > 0) throw new Problem(422, `result of workflow '${name}': ${describeSchemaErrors(errors)}`)
    return outcome.value
  }
}

function workflowFailed(name: string, message: string): Problem {
  const line = message.replaceAll(/\s+/g, ' ').trim()
  return new Problem(422, `workflow '${name}' failed: ${line.slice(0, MAX_ERROR_CHARS) || 'no reason given'}`)
}

const describeSchemaErrors = (errors: SchemaError[]) =>
  errors
    .slice(0, 3)
    .map(({ path, message }) => `${path} ${message}`)
    .join('; ')
