import type { Ctx } from '../../platform/ctx/ctx.ts'
import { toPrometheusText, type MetricFamily, gaugeFamily } from './prometheus-text.ts'
import { startStatusCounters } from './status-counters.ts'
import { processMetrics, startEventLoopMonitor } from './process-metrics.ts'
import { storeMetrics } from './store-metrics.ts'
import { workMetrics } from './work-metrics.ts'

/** Values that the metrics get from the rest of the app. */
export interface MetricsSources {
  version: string
  sandbox: string
  cells: () => { kind: string; state: string }[]
  workflowProcesses: () => number
}

/** Several scrapers, or a frequent one, must not make the store count more often. */
const CACHE_MS = 5_000

/** All metrics as Prometheus text. Labels never contain ids, tenant names or user-supplied text. */
export function openMetricsCollector(
  ctx: Ctx,
  observed: MetricsSources,
): { text: () => Promise<string>; close: () => void } {
  const { counters, stop } = startStatusCounters(ctx.changeHints)
  const loop = startEventLoopMonitor()
  let cached: { at: number; text: Promise<string> } | null = null
  const collect = async () =>
    toPrometheusText([
      buildInfo(ctx, observed),
      ...(await storeMetrics(ctx)),
      ...workMetrics(ctx.counts, counters),
      ...cellMetrics(observed),
      loop.lag(),
      ...processMetrics(),
    ])
  return {
    text() {
      const now = ctx.world.clock.now()
      if (!cached || now - cached.at >= CACHE_MS || now < cached.at) cached = { at: now, text: collect() }
      return cached.text
    },
    close() {
      stop()
      loop.stop()
    },
  }
}

function buildInfo({ store }: Ctx, { version, sandbox }: MetricsSources): MetricFamily {
  const labels = { version, node: process.versions.node, store: store.kind, sandbox }
  return gaugeFamily('svc_build_info', 'Version, Node.js, store and sandbox of this replica; always 1.', [
    { labels, value: 1 },
  ])
}

function cellMetrics({ cells, workflowProcesses }: MetricsSources): MetricFamily[] {
  const counts = new Map<string, { labels: { kind: string; state: string }; value: number }>()
  for (const labels of cells()) {
    const key = `${labels.kind} ${labels.state}`
    counts.set(key, { labels, value: (counts.get(key)?.value ?? 0) + 1 })
  }
  return [
    gaugeFamily('svc_cells', 'Cells by kind and state: warm, kept for a project, or busy.', [...counts.values()]),
    gaugeFamily('svc_workflow_processes', 'Processes that run the workflows of wedges.', workflowProcesses()),
  ]
}
