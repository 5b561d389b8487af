import { findNode24 } from '../../scripts/fetch-node.mjs'
import { median } from '../load/statistics.ts'
import { costRow, measureAlternating, type PairedSamples, plainRow, rateRow, type ResultRow } from '../results.ts'
import { Rig, type Server } from '../rig.ts'

const STEP = { wedge: 'bench', task_type: 'say', input: { text: 'hello' } }
const GATED_STEP = { ...STEP, task_type: 'ask' }
/** Runs commands, so it gets a sandbox of its own. */
const OWN_AGENT = { ...STEP, wedge: 'workshop' }

const ROUNDS = 6
const ROUND_MS = 1200
/** Until Node has compiled the hot code, the same work costs several times as much. */
const WARM_UP_MS = 8000

/**
 * What other durable engines are measured by: one trivial step until the client sees its end, and a decision until the
 * client sees the end of the run. On the machine's version of Node and on the version of the image.
 */
export async function measurePeerShape(rig: Rig): Promise<ResultRow[]> {
  const node24 = await findNode24()
  const own = Number.parseInt(process.versions.node, 10)
  const rows = await measureOnNode(rig.folders, process.execPath, `Node ${own}`)
  if (own === 24) return rows
  if (node24 === null)
    return [...rows, plainRow('Node 24', '', Number.NaN, 'the npm registry did not send it for this platform')]
  return [...rows, ...(await measureOnNode(rig.folders, node24, 'Node 24'))]
}

async function measureOnNode(folders: Rig['folders'], node: string, version: string): Promise<ResultRow[]> {
  const rig = new Rig(folders, node)
  try {
    // One slot for each client, because the baseline has no limit.
    const service = await rig.service({ SVC_MAX_CONCURRENT_TASKS: '64', SVC_PARK_AFTER_S: '3600' })
    const bare = await rig.bare('warm', [node, rig.program('bare-worker')])
    for (const server of [service, bare]) {
      await rig.load('runTasks', server, { clients: 32, ms: WARM_UP_MS, body: STEP })
      await rig.load('decideApprovals', server, { waiting: 400, decisions: 400, clients: 16, body: GATED_STEP })
    }
    const rows: ResultRow[] = []
    for (const clients of [1, 32]) {
      const suffix = `${clients} client${clients > 1 ? 's' : ''}, ${version}`
      rows.push(await measureSteps(rig, service, bare, clients, suffix))
      rows.push(await measureDecisions(rig, service, bare, clients, suffix))
    }
    return [...rows, await measureColdStart(rig, service, version)]
  } finally {
    await rig.close()
  }
}

async function measureSteps(rig: Rig, service: Server, bare: Server, clients: number, suffix: string) {
  const times: PairedSamples = { service: [], bare: [] }
  const run = async (server: Server, finished: number[]) => {
    const { rate, finishedMs } = await rig.load('runTasks', server, { clients, ms: ROUND_MS, body: STEP })
    finished.push(finishedMs)
    return rate
  }
  const rates = await measureAlternating(
    ROUNDS,
    () => run(service, times.service),
    () => run(bare, times.bare),
  )
  const note = `create to finished p50 ${median(times.service).toFixed(2)} ms, bare ${median(times.bare).toFixed(2)}`
  return rateRow(`one step, ${suffix}`, 'runs/s', rates, null, note)
}

async function measureDecisions(rig: Rig, service: Server, bare: Server, clients: number, suffix: string) {
  const rates: PairedSamples = { service: [], bare: [] }
  const options = { waiting: 100, decisions: 100, clients, body: GATED_STEP }
  const decide = async (server: Server, perSecond: number[]) => {
    const { p50, rate } = await rig.load('decideApprovals', server, options)
    perSecond.push(rate)
    return p50
  }
  const times = await measureAlternating(
    ROUNDS,
    () => decide(service, rates.service),
    () => decide(bare, rates.bare),
  )
  const note = `${median(rates.service).toFixed(0)} decisions/s, bare ${median(rates.bare).toFixed(0)}`
  return costRow(`decision to finished p50, ${suffix}`, 'ms', times, null, note)
}

/** An agent in a sandbox of its own, from the request to its end. */
async function measureColdStart(rig: Rig, service: Server, version: string): Promise<ResultRow> {
  await rig.load('runTasks', service, { clients: 1, ms: 1000, body: OWN_AGENT })
  const { finishedMs, rate } = await rig.load('runTasks', service, { clients: 1, ms: 4000, body: OWN_AGENT })
  return plainRow(`agent in a cell of its own, 1 client, ${version}`, 'ms', finishedMs, `${rate.toFixed(1)} runs/s`)
}
