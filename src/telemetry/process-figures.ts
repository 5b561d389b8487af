import { readdirSync } from 'node:fs'
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { counter, type Family, gauge } from './exposition.ts'

const RESOLUTION_MS = 20

/** Watches how late the event loop is, by a timer of the runtime's own. */
export function watchEventLoop(): { lag: () => Family; stop: () => void } {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  return { lag: () => lagFigure(histogram), stop: () => void histogram.disable() }
}

/** Since the last look: what was slow an hour ago says nothing about now. */
function lagFigure(histogram: IntervalHistogram): Family {
  const samples =
    histogram.count === 0
      ? []
      : [
          { labels: { of: 'p50' }, value: late(histogram.percentile(50)) },
          { labels: { of: 'p99' }, value: late(histogram.percentile(99)) },
          { labels: { of: 'max' }, value: late(histogram.max) },
        ]
  histogram.reset()
  return gauge('svc_event_loop_lag_seconds', 'How late the event loop was since the last look.', samples)
}

/** The runtime counts its own pause as a part of the delay. */
const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS) / 1000

/** Under the names that everybody's dashboards know. */
export function processFigures(): Family[] {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  return [
    counter('process_cpu_seconds_total', 'Processor time, in user and system.', (user + system) / 1e6),
    gauge('process_resident_memory_bytes', 'Resident memory.', rss),
    gauge('process_start_time_seconds', 'When the process started.', Math.round(performance.timeOrigin / 1000)),
    gauge('process_open_fds', 'Open file descriptors.', openDescriptors()),
    gauge('nodejs_heap_size_used_bytes', 'Heap in use.', heapUsed),
    gauge('nodejs_heap_size_total_bytes', 'Heap that was taken from the system.', heapTotal),
    gauge('nodejs_external_memory_bytes', 'Memory of buffers outside of the heap.', external),
  ]
}

/** Only Linux tells; elsewhere there is no such figure. */
function openDescriptors() {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return []
  }
}
