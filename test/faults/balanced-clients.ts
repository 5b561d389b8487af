import { expect } from 'vitest'
import { addConnections } from '../approvals/decisions/gated-app.ts'
import { signUpOwner } from '../identity/accounts/members.ts'
import { FOUNDER_KEY } from '../app.ts'
import { numbersUpTo } from '../work/events/stream-reader.ts'
import { type ApiResponse, callApi, type CallOptions, readEventStream, type StreamedEvent } from '../http.ts'

/** The input of a task that sends one action, after a person has approved it. */
const GATED_TASK = {
  wedge: 'gate',
  task_type: 'act',
  input: { connection: 'crm', action: 'send_note', payload: { text: 'hello' } },
}

/** What the clients of a load balancer saw. */
export interface Observed {
  /** The acknowledged tasks by their idempotency keys. */
  tasks: Map<string, string>
  /** The acknowledged decisions: approval ids with their status. */
  decisions: Map<string, string>
  /** Requests that got no response, or an error of the server. */
  failures: string[]
  /** How often a stream was resumed. */
  resumed: number
  slowestMs: number
}

/** A client of one project, behind a load balancer. */
export class BalancedClient {
  readonly #url: string
  readonly #key: string
  readonly #observed: Observed

  constructor(url: string, key: string, observed: Observed) {
    this.#url = url
    this.#key = key
    this.#observed = observed
  }

  async call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<ApiResponse> {
    const startedAt = performance.now()
    const fail = (reason: string) =>
      this.#observed.failures.push(`${method} ${path}: ${reason} after ${Math.round(performance.now() - startedAt)} ms`)
    try {
      const response = await callApi(this.#url, this.#key, method, path, body, options)
      if (response.status >= 500) fail(`${response.status} ${JSON.stringify(response.body)}`)
      return response
    } catch (error) {
      fail(describe(error))
      throw error
    } finally {
      this.#observed.slowestMs = Math.max(this.#observed.slowestMs, performance.now() - startedAt)
    }
  }

  /** Creates a task, approves its action and follows it to its end. */
  async completeTask(key: string): Promise<void> {
    const { tasks, decisions } = this.#observed
    const created = await this.call('POST', '/v1/tasks', GATED_TASK, { headers: { 'idempotency-key': key } })
    expect(created.status).toBe(201)
    const { id } = created.body
    tasks.set(key, id)
    const decided: Promise<void>[] = []
    await this.#follow(id, ({ event, data }) => {
      if (event === 'approval.requested') decided.push(this.#approve(data.data.approval_id, decisions))
    })
    await Promise.all(decided)
    expect(decided).toHaveLength(1)
    const { body: task } = await this.call('GET', `/v1/tasks/${id}`)
    expect(task).toMatchObject({ status: 'succeeded', error: null })
    expect((await this.call('GET', '/v1/tasks?limit=20')).status).toBe(200)
  }

  async #approve(id: string, decisions: Map<string, string>): Promise<void> {
    const { status } = await this.call('POST', `/v1/approvals/${id}/approve`)
    expect(status).toBe(200)
    decisions.set(id, 'approved')
  }

  /** Follows the log of a task as a browser does: a stream that ends early is resumed after the last event. */
  async #follow(id: string, onEvent: (event: StreamedEvent) => void): Promise<void> {
    const seen: StreamedEvent[] = []
    const isOver = (event = seen.at(-1)) => event?.event === 'task.finished'
    const receive = (event: StreamedEvent) => {
      seen.push(event)
      onEvent(event)
      return isOver(event)
    }
    while (!isOver()) {
      if (seen.length > 0) this.#observed.resumed++
      await readEventStream(`${this.#url}/v1/tasks/${id}/events`, this.#key, seen.length, receive).catch(
        (error: unknown) => {
          // A stream may break in the middle, but no stream may be refused.
          if (!isBrokenStream(error)) this.#observed.failures.push(`stream of ${id}: ${describe(error)}`)
        },
      )
    }
    expect(seen.map((event) => Number(event.id))).toEqual(numbersUpTo(seen.length))
  }
}

const describe = (error: unknown) =>
  error instanceof Error ? `${error.message} (${String(error.cause ?? '')})` : String(error)

/** `fetch` says `terminated` when a response that has begun breaks. */
const isBrokenStream = (error: unknown) => error instanceof TypeError && error.message === 'terminated'

/** Creates projects, each with connections to the upstream server, and returns their keys. */
export async function createProjects(url: string, count: number, upstreamUrl: string): Promise<string[]> {
  const session = await signUpOwner({
    call: (method, path, body, options) => callApi(url, FOUNDER_KEY, method, path, body, options),
  })
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const { body: project } = await callApi(url, session, 'POST', '/v1/projects', { name: `Project ${n}` })
      const headers = { 'x-svc-project': project.id }
      const { body } = await callApi(url, session, 'POST', '/v1/keys', { name: 'load' }, { headers })
      await addConnections({ call: (...request) => callApi(url, body.key, ...request) }, upstreamUrl)
      return body.key
    }),
  )
}
