import { Connection } from './connection.ts'
import { median, percentile, type Target } from './statistics.ts'
import { createTask } from './requests.ts'

/** A run that waits for a decision, and whose stream is open. */
interface ParkedRun {
  approvalId: string
  /** Resolves when the stream has delivered `task.finished`. */
  finished: Promise<void>
}

/**
 * Starts runs until `parked` of them wait, approves some one after another, and measures the time until each run ends.
 * The approvals are sent to `at`, if given.
 */
export async function decideApprovals(
  target: Target,
  parked: ParkedRun[],
  options: { parked: number; decisions: number; body: unknown; at?: Target },
): Promise<{ p50: number; p99: number }> {
  const connection = new Connection(options.at ?? target)
  while (parked.length < options.parked) {
    const count = Math.min(8, options.parked - parked.length)
    parked.push(...(await Promise.all(Array.from({ length: count }, () => startParkedRun(target, options.body)))))
  }
  const times: number[] = []
  for (const { approvalId, finished } of parked.splice(0, options.decisions)) {
    const sent = performance.now()
    const { status, body } = await connection.request('POST', `/v1/approvals/${approvalId}/approve`, '{}')
    if (status !== 200) throw new Error(`approving returned status ${status}: ${body}`)
    await finished
    times.push(performance.now() - sent)
  }
  connection.close()
  return { p50: median(times), p99: percentile(times, 0.99) }
}

async function startParkedRun(target: Target, body: unknown): Promise<ParkedRun> {
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
      if (!text.includes('"status":"succeeded"')) throw new Error(`a parked run did not succeed: ${text.slice(-400)}`)
    })
    done.catch(reject)
  })
}
