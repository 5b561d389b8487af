import { Connection } from './connection.ts'
import { percentile, type Target } from './statistics.ts'
import { createTask } from './requests.ts'

export interface MixOptions {
  /** Clients spread over them, and decide at another one than their task was created at. */
  targets: Target[]
  clients: number
  ms: number
  /** Tasks that are there already. */
  stored: string[]
}

export interface Times {
  count: number
  p50: number
  p95: number
  p99: number
}

export interface Mixed {
  seconds: number
  times: Record<string, Times>
  /** How often what went wrong. */
  errors: Record<string, number>
}

/** What a deployment sees of its callers: whole runs with their streams, reads, lists, and now and then a decision. */
export async function mix(_first: Target, options: MixOptions): Promise<Mixed> {
  const start = performance.now()
  const times = new Map<string, number[]>()
  const errors: Record<string, number> = {}
  const client = async (n: number) => {
    let caller = open(options, n, times)
    for (let turn = n; performance.now() - start < options.ms; turn++) {
      try {
        await (PLAN[turn % PLAN.length] ?? run)(caller)
      } catch (error) {
        const why = String(error).slice(0, 100)
        errors[why] = (errors[why] ?? 0) + 1
        close(caller)
        caller = open(options, n, times)
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
    close(caller)
  }
  await Promise.all(Array.from({ length: options.clients }, (_, n) => client(n)))
  const summary = [...times].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, taken]) => [name, timesOf(taken)])
  return { seconds: (performance.now() - start) / 1000, times: Object.fromEntries(summary), errors }
}

interface Caller {
  near: Connection
  far: Connection
  streaming: Connection
  known: string[]
  note(name: string, since: number): void
}

function open({ targets, stored }: MixOptions, n: number, times: Map<string, number[]>): Caller {
  const near = targets[n % targets.length] ?? targets[0]
  const far = targets[(n + 1) % targets.length] ?? targets[0]
  if (!near || !far) throw new Error('no address was given')
  return {
    near: new Connection(near),
    far: new Connection(far),
    streaming: new Connection(near),
    known: stored,
    note(name, since) {
      const taken = times.get(name) ?? []
      times.set(name, taken)
      taken.push(performance.now() - since)
    },
  }
}

function close({ near, far, streaming }: Caller): void {
  for (const connection of [near, far, streaming]) connection.close()
}

/** Creates a task and follows it to its end. */
async function run(caller: Caller): Promise<void> {
  const start = performance.now()
  const id = await createTask(caller.near, SAY)
  caller.note('create', start)
  let text = ''
  await caller.streaming.stream(`/v1/tasks/${id}/events`, 0, (piece) => {
    if (text === '') caller.note('create to first event', start)
    text += piece.toString('latin1')
  })
  caller.note('create to finished', start)
  expectSuccess(text)
}

function expectSuccess(log: string): void {
  if (!log.includes('"status":"succeeded"')) throw new Error(`a run did not succeed: ${log.slice(-200)}`)
}

/** A task that asks, an answer at another replica, and its end. */
async function decide(caller: Caller): Promise<void> {
  const id = await createTask(caller.near, ASK)
  let text = ''
  let sent = 0
  const approving: Promise<void>[] = []
  await caller.streaming.stream(`/v1/tasks/${id}/events`, 0, (piece) => {
    text += piece.toString('latin1')
    const approvalId = /"approval_id":"(\w+)"/.exec(text)?.[1]
    if (!approvalId || approving.length > 0) return
    sent = performance.now()
    approving.push(expectOk(caller.far, 'POST', `/v1/approvals/${approvalId}/approve`, '{}'))
  })
  await Promise.all(approving)
  expectSuccess(text)
  caller.note('decision to finished', sent)
}

async function read(caller: Caller): Promise<void> {
  const id = caller.known[Math.floor(Math.random() * caller.known.length)]
  if (id === undefined) return run(caller)
  const start = performance.now()
  await expectOk(caller.near, 'GET', `/v1/tasks/${id}`)
  caller.note('read a task', start)
}

async function replay(caller: Caller): Promise<void> {
  const id = caller.known[Math.floor(Math.random() * caller.known.length)]
  if (id === undefined) return run(caller)
  const start = performance.now()
  await caller.streaming.stream(`/v1/tasks/${id}/events`, 0, () => {})
  caller.note('replay a log', start)
}

const list = (name: string, path: string) => async (caller: Caller) => {
  const start = performance.now()
  await expectOk(caller.near, 'GET', path)
  caller.note(name, start)
}

const PLAN = [
  run,
  read,
  run,
  replay,
  run,
  read,
  list('list tasks', '/v1/tasks?limit=50'),
  run,
  decide,
  read,
  list('list failed tasks', '/v1/tasks?status=failed&limit=50'),
  list('list pending approvals', '/v1/approvals?status=pending&limit=50'),
  run,
  list('analytics of 30 days', '/v1/analytics?days=30'),
]

const SAY = JSON.stringify({ wedge: 'bench', task_type: 'say', input: { text: 'hello' } })
const ASK = JSON.stringify({ wedge: 'bench', task_type: 'ask', input: { text: 'hello' } })

async function expectOk(connection: Connection, method: string, path: string, body?: string): Promise<void> {
  const answer = await connection.request(method, path, body)
  if (answer.status !== 200) throw new Error(`${method} answered ${answer.status}: ${answer.body.slice(0, 80)}`)
}

function timesOf(taken: readonly number[]): Times {
  const at = (share: number) => percentile(taken, share)
  return { count: taken.length, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
