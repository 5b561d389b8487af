import { readdirSync } from 'node:fs'
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { counterFamily, type MetricFamily, gaugeFamily } from './prometheus-text.ts'

const RESOLUTION_MS = 20

/** Watches how late the event loop is, by a timer of the runtime's own. */
export function startEventLoopMonitor(): { lag: () => MetricFamily; stop: () => void } {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  return { lag: () => lagMetric(histogram), stop: () => void histogram.disable() }
}

/** Since the last look: what was slow an hour ago says nothing about now. */
function lagMetric(histogram: IntervalHistogram): MetricFamily {
  const samples =
    histogram.count === 0
      ? []
      : [
          { labels: { of: 'p50' }, value: lagSeconds(histogram.percentile(50)) },
          { labels: { of: 'p99' }, value: lagSeconds(histogram.percentile(99)) },
          { labels: { of: 'max' }, value: lagSeconds(histogram.max) },
        ]
  histogram.reset()
  return gaugeFamily('svc_event_loop_lag_seconds', 'How late the event loop was since the last look.', samples)
}

/** The runtime counts its own pause as a part of the delay. */
const lagSeconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS) / 1000

/** Under the names that everybody's dashboards know. */
export function processMetrics(): MetricFamily[] {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  return [
    counterFamily('process_cpu_seconds_total', 'Processor time, in user and system.', (user + system) / 1e6),
    gaugeFamily('process_resident_memory_bytes', 'Resident memory.', rss),
    gaugeFamily('process_start_time_seconds', 'When the process started.', Math.round(performance.timeOrigin / 1000)),
    gaugeFamily('process_open_fds', 'Open file descriptors.', countOpenFiles()),
    gaugeFamily('nodejs_heap_size_used_bytes', 'Heap in use.', heapUsed),
    gaugeFamily('nodejs_heap_size_total_bytes', 'Heap that was taken from the system.', heapTotal),
    gaugeFamily('nodejs_external_memory_bytes', 'Memory of buffers outside of the heap.', external),
  ]
}

/** Only Linux tells; elsewhere there is no such figure. */
function countOpenFiles() {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return []
  }
}
