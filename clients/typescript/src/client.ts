import { TaskNotSucceededError } from './errors.ts'
import { type FollowOptions, followTask } from './follow.ts'
import { type CreateTaskRequest, type Event, type File, OPERATIONS, type Operations, type Task } from './openapi.ts'
import { type CallArguments, toRequest } from './operation.ts'
import { encodePathPart } from './path-part.ts'
import { type ClientOptions, Transport } from './transport.ts'

export * from './errors.ts'
export type * from './openapi.ts'
export type { FollowOptions } from './follow.ts'
export type { ClientOptions } from './transport.ts'
export { type VerifyOptions, verifyWebhook, type WebhookEvent } from './webhook.ts'

/** The input and output of a task type. `svc wedge types` writes one for each task type of a wedge. */
export interface TaskTypes {
  wedge: string
  task_type: string
  input: unknown
  output: unknown
}

export type NewTask<Types extends TaskTypes = TaskTypes> = Omit<CreateTaskRequest, 'wedge' | 'task_type' | 'input'> &
  Pick<Types, 'wedge' | 'task_type'> &
  (unknown extends Types['input'] ? { input?: unknown } : { input: Types['input'] })

export interface CreateOptions {
  /** Two calls with the same key create one task. Default: a new key for each call, for its own retries. */
  idempotencyKey?: string | undefined
  signal?: AbortSignal | undefined
}

export interface RunOptions extends CreateOptions {
  /** Is called with every event of the task, in order. If it returns a promise, the next event waits for it. */
  onEvent?: ((event: Event) => unknown) | undefined
}

export interface CallOptions {
  signal?: AbortSignal | undefined
}

/** The operations whose result is one page of a list. */
export type ListOperation = {
  [Operation in keyof Operations]: Operations[Operation]['result'] extends { next_cursor: string | null }
    ? Operation
    : never
}[keyof Operations]

type ListItem<Operation extends ListOperation> = Operations[Operation]['result']['data'][number]

interface Page<Item> {
  data: Item[]
  next_cursor?: string | null
}

const MAX_PAGE_SIZE = 200

/** Calls the service for a program that holds an API key. */
export class AgentWorkClient {
  readonly #transport: Transport

  constructor(options: ClientOptions) {
    this.#transport = new Transport(options)
  }

  /** Creates a task and waits for its end. Throws a TaskNotSucceededError if it does not succeed. */
  async run<Types extends TaskTypes = TaskTypes>(
    newTask: NewTask<Types>,
    { onEvent, ...options }: RunOptions = {},
  ): Promise<Task & { output: Types['output'] }> {
    const { id } = await this.createTask(newTask, options)
    for await (const event of this.follow(id, options)) await onEvent?.(event)
    const task = await this.call('getTask', { id }, options)
    if (task.status !== 'succeeded') throw new TaskNotSucceededError(task)
    return task
  }

  /** Creates a task. A retry after a lost response returns the same task. */
  async createTask<Types extends TaskTypes = TaskTypes>(
    newTask: NewTask<Types>,
    { idempotencyKey = crypto.randomUUID(), signal }: CreateOptions = {},
  ): Promise<Task> {
    const task = await this.#transport.sendJson('POST', '/v1/tasks', {
      headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      body: JSON.stringify(newTask),
      signal,
      isRepeatable: true,
    })
    return task as Task
  }

  /** The events of a task, until it ends. Continues after a lost connection, without gaps and without repetition. */
  follow(taskId: string, options?: FollowOptions): AsyncGenerator<Event, void, undefined> {
    return followTask(this.#transport, taskId, options)
  }

  /** All items of a list. Pages are read as the loop needs them; `limit` is the size of a page. */
  async *list<Operation extends ListOperation>(
    operation: Operation,
    ...[params, options = {}]: CallArguments<Operations[Operation]['params'], CallOptions>
  ): AsyncGenerator<ListItem<Operation>, void, undefined> {
    let cursor: string | null = null
    do {
      const query = { limit: MAX_PAGE_SIZE, ...params, ...(cursor !== null && { cursor }) }
      const page = (await this.#call(operation, query, options)) as Page<ListItem<Operation>>
      yield* page.data
      // A list without pages has no cursor.
      cursor = page.next_cursor ?? null
    } while (cursor !== null)
  }

  /** Calls an operation of the API reference by its id. Path and query parameters stand by name beside `body`. */
  async call<Operation extends keyof Operations>(
    operation: Operation,
    ...[params, options = {}]: CallArguments<Operations[Operation]['params'], CallOptions>
  ): Promise<Operations[Operation]['result']> {
    return (await this.#call(operation, params ?? {}, options)) as Operations[Operation]['result']
  }

  /** Uploads a file for a task or a message. */
  async uploadFile(name: string, content: string | Uint8Array | Blob, type?: string): Promise<File> {
    const headers = { 'content-type': type ?? 'application/octet-stream' }
    const path = `/v1/files?name=${encodeURIComponent(name)}`
    // `fetch` refuses bytes of shared memory, which Uint8Array may have, so they are copied.
    const body = content instanceof Uint8Array ? new Uint8Array(content) : content
    return (await this.#transport.sendJson('POST', path, { headers, body })) as File
  }

  /** The response with the bytes of an artifact (`art_…`) or of an uploaded file (`file_…`). */
  async download(id: string, { signal }: CallOptions = {}): Promise<Response> {
    const path = `/v1/${id.startsWith('file_') ? 'files' : 'artifacts'}/${encodePathPart('id', id)}`
    return this.#transport.open('GET', path, { signal, isRepeatable: true })
  }

  async #call(operation: keyof Operations, params: object, { signal }: CallOptions): Promise<unknown> {
    const route: string | undefined = OPERATIONS[operation]
    if (route === undefined) throw new TypeError(`unknown operation '${operation}': see /openapi.json for their ids`)
    const { method, path, body } = toRequest(route, params)
    return this.#transport.sendJson(method, path, {
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      signal,
      isRepeatable: method === 'GET' || method === 'PUT',
    })
  }
}
