import { request } from 'node:http'
import { UnreachableError } from './errors.ts'
import { encodePathPart } from './path-part.ts'
import { toServiceError } from './response-error.ts'

export * from './errors.ts'

/** What the service tells the program at its start. New fields may be added. */
export interface Brief<Input = unknown> {
  v: 1
  task: { id: string; wedge: string; task_type: string; input: Input; constraints: { [name: string]: unknown } }
  instructions: string
  skills: { name: string; content: string }[]
  /** Skills whose files the program reads when it needs them, in the folder `path`. */
  skill_folders?: { name: string; description: string; files: string[]; path: string | null }[] | undefined
  knowledge: { name: string; content: string }[]
  history: { direction: 'inbound' | 'outbound'; from: string; body: string; at: string }[]
  files: { id: string; name: string; content_type: string; size: number; path: string }[]
  output_schema: { [key: string]: unknown } | null
  strict_output: boolean
  tools: string[]
  connections: BriefConnection[]
  workflows: { name: string; description?: string | undefined }[]
  case: { [key: string]: unknown } | null
  reply?: { capability: string } | undefined
  gate_patterns: string[]
  steps: number
  temperature: number | null
  model: { wire: 'anthropic' | 'openai'; name: string }
  service: { socket: string | null; base_url: string; task_token: string; gate_token: string }
  /** Of a program that continues: its last checkpoint, and what became of its last request. */
  resume?:
    | { checkpoint: unknown; pending: { approval_id: string; decision: string; result: unknown } | null }
    | undefined
}

export interface BriefConnection {
  name: string
  kind: string
  tools?: { name: string; capability: string; description: string; class: 'read' | 'ask' }[]
}

/** `revise`: a person sent the request back, nothing was sent, and `note` says what to change. */
export interface ActionResult {
  ok: boolean
  status?: number
  result?: unknown
  /** What was sent, which differs from the request if `edited` is true. */
  payload?: unknown
  edited?: boolean
  approval_id?: string
  revise?: boolean
  note?: string
}

export interface ReadResult {
  ok: boolean
  status: number
  content_type: string
  body: unknown
}

export interface Answer {
  /** False if the person declined. */
  answered: boolean
  answer: unknown
  answered_by?: string
  approval_id: string
}

export interface StoredRecord {
  collection: string
  key: string
  value: unknown
  version: number
}

/**
 * Reads the brief from stdin. Call it once, at the start of the program. With the types of `svc wedge types`:
 * `openSandbox<HandleRequest['input'], HandleRequest['output']>()`.
 */
export async function openSandbox<Input = unknown, Output = unknown>(): Promise<Sandbox<Input, Output>> {
  // Not readline: newer versions of Node also split at U+2028 and U+2029, which JSON strings may contain.
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += String(chunk)
    if (text.includes('\n')) break
  }
  const [line = ''] = text.split('\n', 1)
  if (line === '') throw new Error('there is no brief on stdin: the service must start this program')
  return new Sandbox(JSON.parse(line) as Brief<Input>)
}

/** The service as a program inside the sandbox sees it. Requests that need a person wait as long as the person takes. */
export class Sandbox<Input = unknown, Output = unknown> {
  readonly brief: Brief<Input>

  constructor(brief: Brief<Input>) {
    this.brief = brief
  }

  /** Uses a connection, after its approval. */
  act(capability: string, payload: unknown, options: { connection?: string } = {}): Promise<ActionResult> {
    return this.request('POST', `actions/${encodePathPart('capability', capability)}`, { payload, ...options })
  }

  /** Reads from a connection, without approval: a relative `path`, or the `arguments` of a named tool. */
  read(capability: string, what: { path?: string; arguments?: unknown; connection?: string }): Promise<ReadResult> {
    return this.request('POST', `reads/${encodePathPart('capability', capability)}`, what)
  }

  /** Asks a person of the team, or the client of the task, and waits for the answer. */
  ask(
    question: string,
    options: { options?: string[]; schema?: object; to?: 'team' | 'client' } = {},
  ): Promise<Answer> {
    return this.request('POST', 'ask', { question, to: 'team', ...options })
  }

  /** Waits for the approval of an own tool. A ConflictError means that a person sent the call back with a note. */
  async gate(tool: string, input: unknown): Promise<'allowed' | 'approved' | 'auto_approved'> {
    const { gate_token } = this.brief.service
    const body = { tool, input }
    return (await this.request<{ decision: 'allowed' }>('POST', 'gate', body, gate_token)).decision
  }

  /** Runs a workflow of the wedge and writes it to the log. Passes the gate first if the name of the workflow asks for it. */
  async workflow<Result = unknown>(name: string, args: object): Promise<Result> {
    const lower = name.toLowerCase()
    const { gate_patterns } = this.brief
    if (gate_patterns.some((pattern) => pattern !== '' && lower.includes(pattern.toLowerCase())))
      await this.gate(name, args)
    const call = { call_id: crypto.randomUUID(), tool: name }
    this.#event('tool.called', { ...call, input: args })
    try {
      const { result } = await this.request<{ result: Result }>('POST', `workflows/${encodePathPart('name', name)}`, {
        args,
      })
      this.#event('tool.result', { ...call, ok: true, output: result })
      return result
    } catch (error) {
      this.#event('tool.result', { ...call, ok: false, error: error instanceof Error ? error.message : String(error) })
      throw error
    }
  }

  /** The records of the wedge, which stay between runs. */
  readonly records = {
    get: (collection: string, key: string): Promise<StoredRecord> => this.request('GET', recordPath(collection, key)),
    put: (collection: string, key: string, value: unknown): Promise<StoredRecord> =>
      this.request('POST', recordPath(collection, key), { value }),
    delete: (collection: string, key: string): Promise<void> => this.request('DELETE', recordPath(collection, key)),
    list: (collection: string, where?: object) => this.#listRecords(collection, where),
  }

  /** Writes a note to the log of the task. Clients can read it. */
  progress(text: string): void {
    this.#event('progress', { text })
  }

  /** Delivers a file. A client sees it only if its name begins with `client/`. */
  artifact(name: string, content: string | Uint8Array, contentType = 'application/octet-stream'): void {
    const content_base64 = Buffer.from(content).toString('base64')
    writeLine({ artifact: { name, content_type: contentType, content_base64 } })
  }

  /** Stores what the program needs to continue in another process. */
  checkpoint(value: unknown): void {
    writeLine({ checkpoint: value })
  }

  /** Ends the task with its output. The program then has two seconds to exit. */
  finish(output: Output): void {
    writeLine({ output })
  }

  /** Ends the task as failed. */
  fail(message: string): void {
    writeLine({ error: message })
  }

  /** A request to a route below `/v1/internal/` that has no method here. */
  request<Result>(
    method: string,
    path: string,
    body?: unknown,
    token: string = this.brief.service.task_token,
  ): Promise<Result> {
    const text = body === undefined ? '' : JSON.stringify(body)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const options = { ...address(this.brief.service), path: `/v1/internal/${path}`, method, headers, agent: false }
    return new Promise((resolve, reject) => {
      const fail = (cause: Error) =>
        reject(new UnreachableError(`cannot reach the service: ${cause.message}`, { cause }))
      const sent = request(options, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', fail)
        response.on('end', () => {
          const content = Buffer.concat(chunks).toString()
          const status = response.statusCode ?? 0
          const header = (name: string) => String(response.headers[name] ?? '') || null
          if (status >= 400) reject(toServiceError(status, content, header))
          else resolve((content === '' ? undefined : JSON.parse(content)) as Result)
        })
      })
      sent.on('error', fail)
      sent.end(text)
    })
  }

  async *#listRecords(collection: string, where?: object): AsyncGenerator<StoredRecord, void, undefined> {
    let cursor: string | null = null
    do {
      const query = new URLSearchParams({ ...(where && { where: JSON.stringify(where) }), ...(cursor && { cursor }) })
      const path = `records/${encodePathPart('collection', collection)}?${query.toString()}`
      const page: { data: StoredRecord[]; next_cursor: string | null } = await this.request('GET', path)
      yield* page.data
      cursor = page.next_cursor
    } while (cursor !== null)
  }

  #event(event: string, data: object): void {
    writeLine({ event, data })
  }
}

const recordPath = (collection: string, key: string) =>
  `records/${encodePathPart('collection', collection)}/${encodePathPart('key', key)}`

/** `SVC_BASE_URL` is a port inside of the sandbox that leads to the same place as the socket. */
function address({ socket, base_url }: Brief['service']): { socketPath: string } | { host: string; port: string } {
  const given = process.env['SVC_BASE_URL']
  if (!given && socket !== null) return { socketPath: socket }
  const { hostname, port } = new URL(given || base_url)
  return { host: hostname, port }
}

/** Each line on stdout is one message to the service. */
const writeLine = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
