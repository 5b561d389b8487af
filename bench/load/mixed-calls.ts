import { Connection } from './connection.ts'
import { percentile, type Target } from './statistics.ts'
import { createTask } from './requests.ts'

export interface MixOptions {
  /** The replicas. A client sends decisions to another replica than the one that created the task. */
  targets: Target[]
  clients: number
  ms: number
  /** Ids of finished tasks to read. */
  stored: string[]
}

export interface DurationSummary {
  count: number
  p50: number
  p95: number
  p99: number
}

export interface MixResult {
  seconds: number
  times: Record<string, DurationSummary>
  /** The count of each error message. */
  errors: Record<string, number>
}

/** A realistic mix of calls: whole runs with their streams, reads, lists and some decisions. */
export async function runMix(_first: Target, options: MixOptions): Promise<MixResult> {
  const start = performance.now()
  const times = new Map<string, number[]>()
  const errors: Record<string, number> = {}
  const client = async (n: number) => {
    let caller = openCaller(options, n, times)
    for (let turn = n; performance.now() - start < options.ms; turn++) {
      try {
        await (CALLS[turn % CALLS.length] ?? runTask)(caller)
      } catch (error) {
        const message = String(error).slice(0, 100)
        errors[message] = (errors[message] ?? 0) + 1
        closeCaller(caller)
        caller = openCaller(options, n, times)
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
    closeCaller(caller)
  }
  await Promise.all(Array.from({ length: options.clients }, (_, n) => client(n)))
  const summary = [...times]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, durations]) => [name, summarize(durations)])
  return { seconds: (performance.now() - start) / 1000, times: Object.fromEntries(summary), errors }
}

interface Caller {
  connection: Connection
  /** A connection to another replica, if there are several. */
  otherConnection: Connection
  streamConnection: Connection
  storedTaskIds: string[]
  /** Adds the time since `start` to the durations of this name. */
  recordDuration(name: string, start: number): void
}

function openCaller({ targets, stored }: MixOptions, n: number, times: Map<string, number[]>): Caller {
  const target = targets[n % targets.length]
  const otherTarget = targets[(n + 1) % targets.length]
  if (!target || !otherTarget) throw new Error('the load needs at least one target')
  return {
    connection: new Connection(target),
    otherConnection: new Connection(otherTarget),
    streamConnection: new Connection(target),
    storedTaskIds: stored,
    recordDuration(name, start) {
      const durations = times.get(name) ?? []
      times.set(name, durations)
      durations.push(performance.now() - start)
    },
  }
}

function closeCaller({ connection, otherConnection, streamConnection }: Caller): void {
  for (const one of [connection, otherConnection, streamConnection]) one.close()
}

/** Creates a task and follows it to its end. */
async function runTask(caller: Caller): Promise<void> {
  const start = performance.now()
  const id = await createTask(caller.connection, PLAIN_TASK)
  caller.recordDuration('create', start)
  let text = ''
  await caller.streamConnection.stream(`/v1/tasks/${id}/events`, 0, (chunk) => {
    if (text === '') caller.recordDuration('create to first event', start)
    text += chunk.toString('latin1')
  })
  caller.recordDuration('create to finished', start)
  expectSuccess(text)
}

function expectSuccess(log: string): void {
  if (!log.includes('"status":"succeeded"')) throw new Error(`a run did not succeed: ${log.slice(-200)}`)
}

/** Creates a task that needs an approval, approves it at another replica, and follows the task to its end. */
async function approveTask(caller: Caller): Promise<void> {
  const id = await createTask(caller.connection, APPROVAL_TASK)
  let text = ''
  let sent = 0
  const approving: Promise<void>[] = []
  await caller.streamConnection.stream(`/v1/tasks/${id}/events`, 0, (chunk) => {
    text += chunk.toString('latin1')
    const approvalId = /"approval_id":"(\w+)"/.exec(text)?.[1]
    if (!approvalId || approving.length > 0) return
    sent = performance.now()
    approving.push(expectOk(caller.otherConnection, 'POST', `/v1/approvals/${approvalId}/approve`, '{}'))
  })
  await Promise.all(approving)
  expectSuccess(text)
  caller.recordDuration('decision to finished', sent)
}

async function readTask(caller: Caller): Promise<void> {
  const id = caller.storedTaskIds[Math.floor(Math.random() * caller.storedTaskIds.length)]
  if (id === undefined) return runTask(caller)
  const start = performance.now()
  await expectOk(caller.connection, 'GET', `/v1/tasks/${id}`)
  caller.recordDuration('read a task', start)
}

async function replayLog(caller: Caller): Promise<void> {
  const id = caller.storedTaskIds[Math.floor(Math.random() * caller.storedTaskIds.length)]
  if (id === undefined) return runTask(caller)
  const start = performance.now()
  await caller.streamConnection.stream(`/v1/tasks/${id}/events`, 0, () => {})
  caller.recordDuration('replay a log', start)
}

const listRows = (name: string, path: string) => async (caller: Caller) => {
  const start = performance.now()
  await expectOk(caller.connection, 'GET', path)
  caller.recordDuration(name, start)
}

const CALLS = [
  runTask,
  readTask,
  runTask,
  replayLog,
  runTask,
  readTask,
  listRows('list tasks', '/v1/tasks?limit=50'),
  runTask,
  approveTask,
  readTask,
  listRows('list failed tasks', '/v1/tasks?status=failed&limit=50'),
  listRows('list pending approvals', '/v1/approvals?status=pending&limit=50'),
  runTask,
  listRows('analytics of 30 days', '/v1/analytics?days=30'),
]

const PLAIN_TASK = JSON.stringify({ wedge: 'bench', task_type: 'say', input: { text: 'hello' } })
const APPROVAL_TASK = JSON.stringify({ wedge: 'bench', task_type: 'ask', input: { text: 'hello' } })

async function expectOk(connection: Connection, method: string, path: string, body?: string): Promise<void> {
  const response = await connection.request(method, path, body)
  if (response.status !== 200)
    throw new Error(`${method} returned status ${response.status}: ${response.body.slice(0, 80)}`)
}

function summarize(durations: readonly number[]): DurationSummary {
  const at = (share: number) => percentile(durations, share)
  return { count: durations.length, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
