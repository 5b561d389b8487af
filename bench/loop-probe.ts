/** Loaded into the service by `--import`: sends the delays of its event loop to the benchmark when it asks for them. */
import { openSync, readSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

const delays = monitorEventLoopDelay({ resolution: 1 })
delays.enable()

/**
 * The histogram also counts the time in which other programs had the processor. A second clock ticks as often and leaves
 * that time out, which the kernel counts for the thread.
 */
const schedstat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
const content = Buffer.alloc(64)
const waitedMs = () => Number(content.toString('utf8', 0, readSync(schedstat, content, 0, 64, 0)).split(' ')[1]) / 1e6

let longestMs = 0
let last = { at: performance.now(), waited: waitedMs() }
setInterval(() => {
  const now = { at: performance.now(), waited: waitedMs() }
  longestMs = Math.max(longestMs, now.at - last.at - (now.waited - last.waited))
  last = now
}, 1).unref()

process.on('message', () => {
  process.send?.({ maxMs: Math.min(delays.max / 1e6, longestMs) })
  delays.reset()
  longestMs = 0
})
// The service must be able to end while the benchmark still listens.
process.channel?.unref()
