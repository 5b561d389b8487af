import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { type BareChild, inBubblewrap, type ChildLine, startChild } from './child-process.ts'
import type { BareEventLogs } from './event-logs.ts'
import type { BareStore } from './store.ts'

export interface BareTask {
  id: string
  input: unknown
  ask: boolean
}

/** How a bare server does its tasks. */
export type BareMode = 'none' | 'warm' | 'fresh' | 'agent'

/** Started ahead, as the service keeps its cells. */
const STOCK = 2

/** Does tasks in children: one that is warm and shared, a fresh sandbox for each, or a program of one's own for each. */
export class BareRuns {
  readonly #store: BareStore
  readonly #logs: BareEventLogs
  readonly #begin: (task: BareTask) => void
  readonly #waiting = new Map<string, (line: ChildLine) => void>()
  readonly #approvals = new Map<string, { task: BareTask; go: () => void }>()
  readonly #warm: BareChild | null
  readonly #stock: Promise<BareChild>[] = []

  constructor(store: BareStore, logs: BareEventLogs, mode: BareMode, command: string[]) {
    this.#store = store
    this.#logs = logs
    this.#warm = mode === 'warm' ? startChild(command, (line) => this.#waiting.get(line.run ?? '')?.(line)) : null
    if (mode === 'fresh') this.#restock(command)
    if (mode === 'warm') this.#begin = (task) => this.#inWarm(task)
    else if (mode === 'fresh') this.#begin = (task) => void this.#inFresh(task, command)
    else if (mode === 'agent') this.#begin = (task) => this.#inAgent(task, command)
    else this.#begin = () => {}
    this.#runs = mode !== 'none'
  }

  readonly #runs: boolean

  async start(task: BareTask): Promise<void> {
    if (!this.#runs) return
    const data = { wedge: 'bench', task_type: 'say', status: 'running', sandbox: 'none', model: 'none' }
    await this.#logs.append(task.id, [{ type: 'task.created', data }], () =>
      this.#store.setStatus(task.id, 'running', null),
    )
    this.#begin(task)
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
    waiting.go()
  }

  /** What a workflow is at the least: a question and an answer over a pipe. */
  call(args: unknown): Promise<unknown> {
    const run = newId('call')
    return new Promise((resolve) => {
      this.#waiting.set(run, ({ output }) => {
        this.#waiting.delete(run)
        resolve(output)
      })
      this.#warm?.stdin.write(`${JSON.stringify({ run, call: args })}\n`)
    })
  }

  #inWarm(task: BareTask): void {
    const tell = (word: object) => void this.#warm?.stdin.write(`${JSON.stringify({ run: task.id, ...word })}\n`)
    this.#waiting.set(task.id, (line) => {
      void this.#hear(task, line, () => tell({ go: true }))
      if (line.output !== undefined) this.#waiting.delete(task.id)
    })
    tell({ start: { ask: task.ask, input: task.input } })
  }

  async #inFresh(task: BareTask, command: string[]): Promise<void> {
    const next = this.#stock.shift()
    this.#restock(command)
    const child = await next
    if (!child) throw new Error('nothing in stock')
    this.#waiting.set(task.id, (line) => {
      void this.#hear(task, line, () => {})
      if (line.output === undefined) return
      this.#waiting.delete(task.id)
      child.kill('SIGKILL')
    })
    child.stdin.write(`${JSON.stringify({ run: task.id, start: {} })}\n`)
  }

  #restock(command: string[]): void {
    while (this.#stock.length < STOCK) {
      this.#stock.push(
        new Promise((resolve) => {
          const child = startChild(inBubblewrap(command, dirname(command.at(-1) ?? '/')), (line) => {
            if (line.ready) resolve(child)
            else this.#waiting.get(line.run ?? '')?.(line)
          })
        }),
      )
    }
  }

  #inAgent(task: BareTask, command: string[]): void {
    const child = startChild(command, (line) => void this.#hear(task, line, () => {}))
    child.stdin.end(`${JSON.stringify({ v: 1, task: { id: task.id, input: task.input } })}\n`)
  }

  async #hear(task: BareTask, line: ChildLine, go: () => void): Promise<void> {
    if (line.event) return this.#logs.push(task.id, { type: line.event, data: line.data })
    if (line.ask) return this.#park(task, go)
    if (line.output !== undefined) return this.#finish(task, line.output)
  }

  #park(task: BareTask, go: () => void): Promise<void> {
    const id = newId('apr')
    this.#approvals.set(id, { task, go })
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
    const ending = [
      { type: 'output.validated', data: { ok: true, errors: [] } },
      { type: 'artifact.created', data: { ...artifact, url: `/v1/artifacts/${id}` } },
      { type: 'task.finished', data: { status: 'succeeded', duration_ms: 1 } },
    ]
    return this.#logs.append(task.id, ending, () => {
      this.#store.setStatus(task.id, 'succeeded', text)
      this.#store.insertArtifact(id, task.id, text.length)
    })
  }
}

export const newId = (prefix: string): string => `${prefix}_${randomBytes(13).toString('hex')}`
