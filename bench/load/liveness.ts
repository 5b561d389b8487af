import { threadTimes } from '../thread-times.ts'
import { Connection } from './connection.ts'
import { percentile, type Target } from './statistics.ts'

const INTERVAL_MS = 5

/** Requests of `GET /livez`, one after another on a connection of their own. */
export interface LivenessPolls {
  /** Ends the requests and returns their delays in milliseconds. */
  stop(): Promise<number[]>
}

/**
 * While a response is late, the requests that were due meanwhile count as well, each from the time at which it was due. The
 * time in which this client waited for a processor does not count.
 */
export function startPolling(target: Target): LivenessPolls {
  const connection = new Connection(target)
  const delays: number[] = []
  const stopped = new AbortController()
  async function poll() {
    while (!stopped.signal.aborted) {
      const { waitedMs } = threadTimes(process.pid)
      const sent = performance.now()
      const { status } = await connection.request('GET', '/livez')
      if (status !== 200) throw new Error(`GET /livez returned status ${status}`)
      const delay = performance.now() - sent - (threadTimes(process.pid).waitedMs - waitedMs)
      for (let late = delay; late > 0; late -= INTERVAL_MS) delays.push(late)
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS))
    }
    connection.close()
  }
  const ended = poll()
  // `stop` reports the error.
  ended.catch(() => {})
  return {
    async stop() {
      stopped.abort()
      await ended
      return delays
    },
  }
}

export interface LivenessTimes {
  worst: number
  p99: number
  polls: number
}

export const summarizeDelays = (delays: readonly number[]): LivenessTimes => ({
  worst: delays.reduce((worst, delay) => Math.max(worst, delay), 0),
  p99: percentile(delays, 0.99),
  polls: delays.length,
})
