import { setTimeout as pause } from 'node:timers/promises'
import { mailServerProblem } from '../../scripts/machine.mjs'
import { type MailServer, startMailServer } from '../../test/mail/mail-server.ts'
import { errorMessage } from '../../src/platform/base/error-message.ts'
import { attachmentInput, listHookInputs, PUBLIC_URL } from '../hostile/hooks.ts'
import { type HostileInput, postBytes } from '../hostile/input.ts'
import { listMailInputs } from '../hostile/mails.ts'
import { databaseUploads, objectUploads, openObjectStore } from '../hostile/uploads.ts'
import { type LivenessTimes, summarizeDelays } from '../load/liveness.ts'
import type { Target } from '../load/statistics.ts'
import { formatNumber, goalRow, plainRow, type ResultRow } from '../results.ts'
import type { Rig, Server } from '../rig.ts'

const MAX_DELAY_MS = 50
/** An input that is above the limit is sent again, because other programs of the machine may have caused it. */
const MAX_ATTEMPTS = 3
/** Before the input and after it, so that work that follows the response counts too. */
const QUIET_MS = 200

const SETTINGS = {
  SVC_MAX_CONCURRENT_TASKS: '0',
  SVC_POOL: '0',
  SVC_PUBLIC_URL: PUBLIC_URL,
  SVC_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
  SVC_EGRESS_ALLOW: '127.0.0.1,::1,localhost',
}

/** How long other requests wait while the service gets input that is large or hard to parse. */
export async function measureHostileInput(rig: Rig): Promise<ResultRow[]> {
  const bare = await rig.bare()
  const service = await rig.service(SETTINGS)
  const sides = { service, bare }
  const delays: Delays = { service: [], bare: [] }
  const rows: ResultRow[] = []
  const measure = async (inputs: readonly HostileInput[], servers = sides) => {
    for (const input of inputs) rows.push(await measureInput(rig, servers, input, delays).catch(failedRow(input)))
  }
  const objectStore = await openObjectStore()
  let mailServer: MailServer | null = null
  try {
    await measure(await listHookInputs(service))
    await measure(databaseUploads())
    const problem = mailServerProblem()
    if (problem === null) {
      mailServer = await startMailServer()
      await measure(await listMailInputs(service, mailServer))
    } else {
      rows.push(plainRow('livez, mailbox', 'ms', Number.NaN, `not measured: ${problem}`))
    }
    await rig.stop(service)
    const withObjectStore = { service: await rig.service({ ...SETTINGS, ...objectStore.env }), bare }
    await measure([...objectUploads(), await attachmentInput(withObjectStore.service, 30)], withObjectStore)
  } finally {
    objectStore.server.close()
    await mailServer?.stop()
  }
  return [...rows, ...summarize(delays)]
}

interface Sides {
  service: Server
  bare: Server
}

/** Of all requests of both sides. */
type Delays = Record<keyof Sides, number[]>

interface Attempt {
  times: LivenessTimes
  delays: number[]
  /** The longest block of the event loop; null for the bare server. */
  blockedMs: number | null
  outcome: string
}

/** The figures of each side are of the attempt with the lowest delay: what the input itself causes is in every attempt. */
async function measureInput(rig: Rig, { service, bare }: Sides, input: HostileInput, all: Delays): Promise<ResultRow> {
  const best: Partial<Record<keyof Sides, Attempt>> = {}
  const keepBest = (side: keyof Sides, attempt: Attempt) => {
    const earlier = best[side]
    return (best[side] = earlier && earlier.times.worst <= attempt.times.worst ? earlier : attempt)
  }
  for (let n = 0; n < MAX_ATTEMPTS; n++) {
    keepBest('bare', await measureAttempt(rig, bare, input, discardOn))
    const { times } = keepBest('service', await measureAttempt(rig, service, input, input.send))
    if (times.worst <= MAX_DELAY_MS) break
  }
  if (!best.service || !best.bare) throw new Error('nothing was measured')
  all.service.push(...best.service.delays)
  all.bare.push(...best.bare.delays)
  const note =
    `p99 ${formatNumber(best.service.times.p99)}, bare ${formatNumber(best.bare.times.p99)}; ` +
    `event loop blocked ${formatNumber(best.service.blockedMs ?? Number.NaN)}; ${best.service.outcome}`
  const worst = { service: [best.service.times.worst], bare: [best.bare.times.worst] }
  return goalRow(`livez, ${input.name}`, 'ms', worst, { max: MAX_DELAY_MS }, note)
}

/** The bare server reads the same bytes and discards them. */
const discardOn = (server: Target, bytes: Buffer): Promise<string> =>
  postBytes(server, { path: '/discard', headers: {}, expect: 'accepted' }, bytes)

async function measureAttempt(
  rig: Rig,
  server: Server,
  { times = 1, build }: HostileInput,
  send: HostileInput['send'],
): Promise<Attempt> {
  const inputs = Array.from({ length: times }, build)
  const hasProbe = send !== discardOn
  await rig.load('startPolling', server, {})
  await pause(QUIET_MS)
  if (hasProbe) await rig.longestDelay(server)
  const start = performance.now()
  let outcome = ''
  let took = 0
  let blockedMs: number | null = null
  let delays: number[] = []
  try {
    for (const bytes of inputs) outcome = await send(server, bytes)
    took = performance.now() - start
    await pause(QUIET_MS)
    if (hasProbe) blockedMs = await rig.longestDelay(server)
  } finally {
    delays = await rig.load('stopPolling', server, {})
  }
  const each = times > 1 ? `${times} × ` : ''
  return { times: summarizeDelays(delays), delays, blockedMs, outcome: `${each}${outcome} in ${formatNumber(took)} ms` }
}

/** An input that was not treated as expected does not end the measurement. */
const failedRow =
  ({ name }: HostileInput) =>
  (error: unknown): ResultRow => ({
    ...goalRow(`livez, ${name}`, 'ms', { service: [], bare: [] }, { max: MAX_DELAY_MS }),
    note: errorMessage(error),
  })

function summarize({ service, bare }: Delays): ResultRow[] {
  const [ofService, ofBare] = [summarizeDelays(service), summarizeDelays(bare)]
  const note = `${formatNumber(ofService.polls)} requests`
  const pairs = (key: 'worst' | 'p99') => ({ service: [ofService[key]], bare: [ofBare[key]] })
  return [
    goalRow('livez, worst delay of all', 'ms', pairs('worst'), { max: MAX_DELAY_MS }, note),
    goalRow('livez, p99 of all', 'ms', pairs('p99'), { max: MAX_DELAY_MS }, note),
  ]
}
