import { readdirSync } from 'node:fs'
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { counterFamily, type MetricFamily, gaugeFamily } from './prometheus-text.ts'

const RESOLUTION_MS = 20

/** Measures the delay of the event loop with the monitor of Node.js. */
export function startEventLoopMonitor(): { lag: () => MetricFamily; stop: () => void } {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  return { lag: () => lagMetric(histogram), stop: () => void histogram.disable() }
}

/** Covers the time since the last scrape, so that old delays do not hide the current ones. */
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
  return gaugeFamily('svc_event_loop_lag_seconds', 'Delay of the event loop since the last scrape.', samples)
}

/** Node.js includes the interval of its own timer in the delay. */
const lagSeconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS) / 1000

/** The names are those of other Prometheus clients, so that common dashboards work. */
export function processMetrics(): MetricFamily[] {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  return [
    counterFamily('process_cpu_seconds_total', 'CPU time, user and system.', (user + system) / 1e6),
    gaugeFamily('process_resident_memory_bytes', 'Resident memory.', rss),
    gaugeFamily('process_start_time_seconds', 'When the process started.', Math.round(performance.timeOrigin / 1000)),
    gaugeFamily('process_open_fds', 'Open file descriptors.', countOpenFiles()),
    gaugeFamily('nodejs_heap_size_used_bytes', 'Heap in use.', heapUsed),
    gaugeFamily('nodejs_heap_size_total_bytes', 'Heap that is reserved.', heapTotal),
    gaugeFamily('nodejs_external_memory_bytes', 'Memory of buffers outside of the heap.', external),
  ]
}

/** Only Linux lists them; on other systems the metric is left out. */
function countOpenFiles() {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return []
  }
}
