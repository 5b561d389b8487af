/** Loaded into the service by `--import`: sends the delays of its event loop to the benchmark when it asks for them. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

const delays = monitorEventLoopDelay({ resolution: 1 })
delays.enable()

process.on('message', () => {
  process.send?.({ maxMs: delays.max / 1e6 })
  delays.reset()
})
// The service must be able to end while the benchmark still listens.
process.channel?.unref()
