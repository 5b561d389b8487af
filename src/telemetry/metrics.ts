import type { Ctx } from '../ctx/ctx.ts'
import { exposition, type Family, gauge } from './exposition.ts'
import { countMoves } from './moves.ts'
import { processFigures, watchEventLoop } from './process-figures.ts'
import { storeFigures } from './store-figures.ts'
import { workFigures } from './work-figures.ts'

/** What the metrics tell of the parts that other rooms hold. */
export interface Observed {
  version: string
  sandbox: string
  cells: () => { kind: string; state: string }[]
  workflowProcesses: () => number
}

/** Two readers, or an eager one, do not make the store count twice as often. */
const KEPT_MS = 5_000

/** Everything worth watching, as text. The labels never hold an id, a tenant or a word of anybody's. */
export function openMetrics(ctx: Ctx, observed: Observed): { text: () => Promise<string>; close: () => void } {
  const { moves, stop } = countMoves(ctx.bells)
  const loop = watchEventLoop()
  let kept: { at: number; text: Promise<string> } | null = null
  const collect = async () =>
    exposition([
      buildInfo(ctx, observed),
      ...(await storeFigures(ctx)),
      ...workFigures(ctx.counts, moves),
      ...cellFigures(observed),
      loop.lag(),
      ...processFigures(),
    ])
  return {
    text() {
      const now = ctx.world.clock.now()
      if (!kept || now - kept.at >= KEPT_MS || now < kept.at) kept = { at: now, text: collect() }
      return kept.text
    },
    close() {
      stop()
      loop.stop()
    },
  }
}

function buildInfo({ store }: Ctx, { version, sandbox }: Observed): Family {
  const labels = { version, node: process.versions.node, store: store.kind, sandbox }
  return gauge('svc_build_info', 'What runs here; always 1.', [{ labels, value: 1 }])
}

function cellFigures({ cells, workflowProcesses }: Observed): Family[] {
  const counts = new Map<string, { labels: { kind: string; state: string }; value: number }>()
  for (const labels of cells()) {
    const key = `${labels.kind} ${labels.state}`
    counts.set(key, { labels, value: (counts.get(key)?.value ?? 0) + 1 })
  }
  return [
    gauge('svc_cells', 'Sandboxes by kind: warm, kept for a project, or busy.', [...counts.values()]),
    gauge('svc_workflow_processes', 'Processes that run the workflows of wedges.', workflowProcesses()),
  ]
}
