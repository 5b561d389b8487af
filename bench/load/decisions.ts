import { Connection } from './connection.ts'
import { median, percentile, type Target } from './statistics.ts'
import { createTask } from './requests.ts'

/** A run that waits for a decision, and whose stream is open. */
interface WaitingRun {
  approvalId: string
  /** Resolves when the stream has delivered `task.finished`. */
  finished: Promise<void>
}

/**
 * Starts runs until `waiting` of them wait, approves some of them, `clients` at a time, and measures the time until each
 * run ends. The approvals are sent to `at`, if given.
 */
export async function decideApprovals(
  target: Target,
  waiting: WaitingRun[],
  options: { waiting: number; decisions: number; body: unknown; at?: Target; clients?: number },
): Promise<{ p50: number; p99: number; rate: number }> {
  while (waiting.length < options.waiting) {
    const count = Math.min(8, options.waiting - waiting.length)
    waiting.push(...(await Promise.all(Array.from({ length: count }, () => startWaitingRun(target, options.body)))))
  }
  const times: number[] = []
  const decided = waiting.splice(0, options.decisions)
  const start = performance.now()
  const client = async () => {
    const connection = new Connection(options.at ?? target)
    for (let run = decided.shift(); run; run = decided.shift()) times.push(await timeApproval(connection, run))
    connection.close()
  }
  await Promise.all(Array.from({ length: options.clients ?? 1 }, client))
  const rate = times.length / ((performance.now() - start) / 1000)
  return { p50: median(times), p99: percentile(times, 0.99), rate }
}

async function timeApproval(connection: Connection, { approvalId, finished }: WaitingRun): Promise<number> {
  const sent = performance.now()
  const { status, body } = await connection.request('POST', `/v1/approvals/${approvalId}/approve`, '{}')
  if (status !== 200) throw new Error(`approving returned status ${status}: ${body}`)
  await finished
  return performance.now() - sent
}

async function startWaitingRun(target: Target, body: unknown): Promise<WaitingRun> {
  const connection = new Connection(target)
  const id = await createTask(connection, JSON.stringify(body))
  return new Promise((resolve, reject) => {
    let text = ''
    const finished = connection.stream(`/v1/tasks/${id}/events`, 0, (chunk) => {
      text += chunk.toString('latin1')
      const approvalId = /"approval_id":"(\w+)"/.exec(text)?.[1]
      if (approvalId) resolve({ approvalId, finished: done })
    })
    const done = finished.then(() => {
      connection.close()
      if (!text.includes('"status":"succeeded"')) throw new Error(`a run did not succeed: ${text.slice(-400)}`)
    })
    done.catch(reject)
  })
}

/**
 * Creates runs until `parked` of them wait, lets them leave their cells, approves some one after another, and measures the
 * time until each run ends. No stream is open while they wait.
 */
export async function decideParked(
  target: Target,
  options: { parked: number; decisions: number; body: unknown; settleMs: number },
): Promise<{ p50: number; p99: number }> {
  const connection = new Connection(target)
  const body = JSON.stringify(options.body)
  let missing = options.parked - (await countPending(connection))
  const create = async () => {
    const own = new Connection(target)
    while (missing-- > 0) await createTask(own, body)
    own.close()
  }
  await Promise.all(Array.from({ length: 8 }, create))
  while ((await countPending(connection)) < options.parked) await sleep(200)
  await sleep(options.settleMs)
  const times: number[] = []
  let page: PendingApproval[] = []
  while (times.length < options.decisions) {
    if (page.length === 0) page = await listPending(connection)
    const next = page.shift()
    if (next) times.push(await timeDecision(target, next))
  }
  connection.close()
  return { p50: median(times), p99: percentile(times, 0.99) }
}

interface PendingApproval {
  approval_id: string
  task_id: string
}

async function listPending(connection: Connection): Promise<PendingApproval[]> {
  const { body } = await connection.request('GET', '/v1/approvals?status=pending&limit=200')
  return JSON.parse(body).data
}

async function countPending(connection: Connection): Promise<number> {
  const { body } = await connection.request('GET', '/v1/analytics')
  return JSON.parse(body).approvals.pending
}

async function timeDecision(target: Target, { approval_id, task_id }: PendingApproval): Promise<number> {
  const [decider, reader] = [new Connection(target), new Connection(target)]
  let log = ''
  const finished = reader.stream(`/v1/tasks/${task_id}/events`, 0, (chunk) => {
    log += chunk.toString('latin1')
  })
  const sent = performance.now()
  const { status, body } = await decider.request('POST', `/v1/approvals/${approval_id}/approve`, '{}')
  if (status !== 200) throw new Error(`approving returned status ${status}: ${body}`)
  await finished
  const ms = performance.now() - sent
  if (!log.includes('"state":"resumed"') || !log.includes('"status":"succeeded"'))
    throw new Error(`a run did not resume and succeed: ${log.slice(-400)}`)
  decider.close()
  reader.close()
  return ms
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
