import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { type BareChild, bubblewrapCommand, type ChildLine, startChild } from './child-process.ts'
import type { BareEventLogs } from './event-logs.ts'
import type { BareStore } from './store.ts'

export interface BareTask {
  id: string
  input: unknown
  ask: boolean
}

/**
 * How the baseline server runs tasks: not at all, in one shared child process, in a new sandbox for each task, or with a
 * custom agent for each task.
 */
export type BareMode = 'none' | 'warm' | 'fresh' | 'agent'

/** Sandboxes that are started in advance, like the cells of the service. */
const POOL_SIZE = 2

/** Runs tasks in child processes. */
export class BareRuns {
  readonly #store: BareStore
  readonly #logs: BareEventLogs
  readonly #run: ((task: BareTask) => void) | null
  readonly #lineHandlers = new Map<string, (line: ChildLine) => void>()
  readonly #approvals = new Map<string, { task: BareTask; resume: () => void }>()
  readonly #sharedChild: BareChild | null
  readonly #pool: Promise<BareChild>[] = []

  constructor(store: BareStore, logs: BareEventLogs, mode: BareMode, command: string[]) {
    this.#store = store
    this.#logs = logs
    this.#sharedChild = mode === 'warm' ? startChild(command, (line) => this.#dispatch(line)) : null
    if (mode === 'fresh') this.#fillPool(command)
    if (mode === 'warm') this.#run = (task) => this.#runInSharedChild(task)
    else if (mode === 'fresh') this.#run = (task) => void this.#runInSandbox(task, command)
    else if (mode === 'agent') this.#run = (task) => this.#runAgent(task, command)
    else this.#run = null
  }

  async start(task: BareTask): Promise<void> {
    if (!this.#run) return
    const data = { wedge: 'bench', task_type: 'say', status: 'running', sandbox: 'none', model: 'none' }
    await this.#logs.append(task.id, [{ type: 'task.created', data }], () =>
      this.#store.setStatus(task.id, 'running', null),
    )
    this.#run(task)
  }

  async approve(id: string): Promise<void> {
    const waiting = this.#approvals.get(id)
    if (!waiting) throw new Error('no such approval')
    this.#approvals.delete(id)
    const data = { approval_id: id, action: 'records_get', decision: 'approved' }
    await this.#logs.append(waiting.task.id, [{ type: 'approval.resolved', data }], () => {
      this.#store.decideApproval(id)
      this.#store.setStatus(waiting.task.id, 'running', null)
      this.#store.audit('approval.approved', id)
    })
    waiting.resume()
  }

  /** The minimum for a workflow: a request and a response over a pipe. */
  callWorkflow(args: unknown): Promise<unknown> {
    const run = newId('call')
    return new Promise((resolve) => {
      this.#lineHandlers.set(run, ({ output }) => {
        this.#lineHandlers.delete(run)
        resolve(output)
      })
      this.#sharedChild?.stdin.write(`${JSON.stringify({ run, call: args })}\n`)
    })
  }

  #dispatch(line: ChildLine): void {
    this.#lineHandlers.get(line.run ?? '')?.(line)
  }

  #runInSharedChild(task: BareTask): void {
    const send = (message: object) =>
      void this.#sharedChild?.stdin.write(`${JSON.stringify({ run: task.id, ...message })}\n`)
    this.#lineHandlers.set(task.id, (line) => {
      void this.#handleLine(task, line, () => send({ resume: true }))
      if (line.output !== undefined) this.#lineHandlers.delete(task.id)
    })
    send({ start: { ask: task.ask, input: task.input } })
  }

  async #runInSandbox(task: BareTask, command: string[]): Promise<void> {
    const pooled = this.#pool.shift()
    this.#fillPool(command)
    const child = await pooled
    if (!child) throw new Error('the pool of sandboxes is empty')
    this.#lineHandlers.set(task.id, (line) => {
      void this.#handleLine(task, line, () => {})
      if (line.output === undefined) return
      this.#lineHandlers.delete(task.id)
      child.kill('SIGKILL')
    })
    child.stdin.write(`${JSON.stringify({ run: task.id, start: {} })}\n`)
  }

  #fillPool(command: string[]): void {
    while (this.#pool.length < POOL_SIZE) {
      this.#pool.push(
        new Promise((resolve) => {
          const child = startChild(bubblewrapCommand(command, dirname(command.at(-1) ?? '/')), (line) => {
            if (line.ready) resolve(child)
            else this.#dispatch(line)
          })
        }),
      )
    }
  }

  #runAgent(task: BareTask, command: string[]): void {
    const child = startChild(command, (line) => void this.#handleLine(task, line, () => {}))
    child.stdin.end(`${JSON.stringify({ v: 1, task: { id: task.id, input: task.input } })}\n`)
  }

  async #handleLine(task: BareTask, line: ChildLine, resume: () => void): Promise<void> {
    if (line.event) return this.#logs.push(task.id, { type: line.event, data: line.data })
    if (line.ask) return this.#requestApproval(task, resume)
    if (line.output !== undefined) return this.#finish(task, line.output)
  }

  #requestApproval(task: BareTask, resume: () => void): Promise<void> {
    const id = newId('apr')
    this.#approvals.set(id, { task, resume })
    const data = { approval_id: id, action: 'records_get', risk: 'low', preview: {}, expires_at: '' }
    return this.#logs.append(task.id, [{ type: 'approval.requested', data }], () => {
      this.#store.insertApproval(id, task.id)
      this.#store.setStatus(task.id, 'awaiting_approval', null)
    })
  }

  #finish(task: BareTask, output: unknown): Promise<void> {
    const text = JSON.stringify(output)
    const id = newId('art')
    const artifact = { artifact_id: id, name: 'output.json', content_type: 'application/json', size: text.length }
    const lastEvents = [
      { type: 'output.validated', data: { ok: true, errors: [] } },
      { type: 'artifact.created', data: { ...artifact, url: `/v1/artifacts/${id}` } },
      { type: 'task.finished', data: { status: 'succeeded', duration_ms: 1 } },
    ]
    return this.#logs.append(task.id, lastEvents, () => {
      this.#store.setStatus(task.id, 'succeeded', text)
      this.#store.insertArtifact(id, task.id, text.length)
    })
  }
}

export const newId = (prefix: string): string => `${prefix}_${randomBytes(13).toString('hex')}`
