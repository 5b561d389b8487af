import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { goalRow, plainRow, type ResultRow } from '../results.ts'
import { memoryOf, type Rig, type Server } from '../rig.ts'

const FEW = 200
const MANY = 10_000
const DECISIONS = 50
const WARM_UP_DECISIONS = 300
const MAX_GROWTH_MB = 20
/** Time for the last runs to leave their cells and for Node to give memory back. */
const SETTLE_MS = 5_000

/**
 * The time from a decision to the end of a run that has left its cell, and the memory that such runs cost. The memory is
 * that of a service that starts with them: one that has created them also keeps pages of its database, up to 64 MB.
 */
export async function measureParked(rig: Rig): Promise<ResultRow[]> {
  const dataDir = mkdtempSync(join(rig.dir, 'parked-'))
  const start = () => rig.service({ SVC_PARK_AFTER_S: '0', SVC_APPROVAL_TTL_S: '86400' }, dataDir)
  const settledMemory = async (server: Server) => {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
    return memoryOf(server.pid).all
  }
  const service = await start()
  const idle = await settledMemory(service)
  const body = { wedge: 'bench', task_type: 'ask', input: { text: 'hello' } }
  const decide = (server: Server, parked: number, decisions: number) =>
    rig.load('decideParked', server, { parked, decisions, body, settleMs: SETTLE_MS })
  await decide(service, WARM_UP_DECISIONS, WARM_UP_DECISIONS)
  const few = await decide(service, FEW, DECISIONS)
  const many = await decide(service, MANY, DECISIONS)
  const creator = await settledMemory(service)
  await rig.stop(service)
  const restarted = await start()
  const growth = (await settledMemory(restarted)) - idle
  const later = await decide(restarted, MANY, DECISIONS)
  const times = [
    { name: `${FEW} parked`, ...few },
    { name: `${MANY} parked`, ...many },
    { name: `${MANY} parked, restarted`, ...later },
  ]
  const note = `service and cells after a restart; idle ${idle.toFixed(0)} MB; before the restart ${creator.toFixed(0)} MB`
  return [
    ...times.map(({ name, p50, p99 }) =>
      plainRow(`decision to finished p50, left its cell, ${name}`, 'ms', p50, `p99 ${p99.toFixed(0)} ms`),
    ),
    goalRow(`memory of ${MANY} parked runs`, 'MB', { service: [growth], bare: [] }, { max: MAX_GROWTH_MB }, note),
  ]
}
