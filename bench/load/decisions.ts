import { Connection } from './connection.ts'
import { median, percentile, type Target } from './statistics.ts'
import { createTask } from './requests.ts'

/** A run that waits for a person, with somebody who follows it. */
interface Parked {
  approvalId: string
  /** Resolves when `task.finished` is here. */
  finished: Promise<void>
}

/**
 * Fills up to so many parked runs, decides some one after another, at another replica if one is named, and tells how
 * long each took to its end.
 */
export async function decide(
  target: Target,
  parked: Parked[],
  options: { parked: number; decisions: number; body: unknown; at?: Target },
): Promise<{ p50: number; p99: number }> {
  const connection = new Connection(options.at ?? target)
  while (parked.length < options.parked) {
    const some = Math.min(8, options.parked - parked.length)
    const ids = await Promise.all(Array.from({ length: some }, () => park(target, options.body)))
    parked.push(...ids)
  }
  const times: number[] = []
  for (const { approvalId, finished } of parked.splice(0, options.decisions)) {
    const sent = performance.now()
    const answer = await connection.request('POST', `/v1/approvals/${approvalId}/approve`, '{}')
    if (answer.status !== 200) throw new Error(`not approved: ${answer.status} ${answer.body}`)
    await finished
    times.push(performance.now() - sent)
  }
  connection.close()
  return { p50: median(times), p99: percentile(times, 0.99) }
}

async function park(target: Target, body: unknown): Promise<Parked> {
  const connection = new Connection(target)
  const id = await createTask(connection, JSON.stringify(body))
  return new Promise((resolve, reject) => {
    let text = ''
    const finished = connection.stream(`/v1/tasks/${id}/events`, 0, (piece) => {
      text += piece.toString('latin1')
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
