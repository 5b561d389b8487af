import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../runs/scripted-agent.ts'
import { createScriptedTask, type ScriptedDeployment, createScriptedDeployment } from './scripted-deployment.ts'
import { expectInvariants } from './invariants.ts'
import { TcpProxy } from './tcp-proxy.ts'
import { FAULT_TIMEOUT_MS, attemptNumbers } from './rounds.ts'
import type { ServiceProcess } from './service-process.ts'

/** A replica behind a wire of its own. */
interface Replica {
  service: ServiceProcess
  proxy: TcpProxy
  restart(): Promise<void>
}

async function replicaOn(place: ScriptedDeployment, name: string): Promise<Replica> {
  const proxy = await TcpProxy.openFor(place.database ?? '')
  onTestFinished(() => proxy.close())
  const env = { SVC_DATA_DIR: name, DATABASE_URL: proxy.url }
  const replica: Replica = {
    proxy,
    service: await place.start(env),
    async restart() {
      await replica.service.kill()
      replica.service = await place.start(env)
    },
  }
  return replica
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 1_000))

/** What happens to one replica while the others go on. */
const FAULTS: Record<string, (replica: Replica) => Promise<unknown>> = {
  'killed and started': (replica) => replica.restart(),
  async 'cut off'({ proxy }) {
    proxy.cut()
    await pause()
    proxy.heal()
  },
  async 'swallowed by a black hole'({ proxy }) {
    proxy.blackHole()
    await pause()
    proxy.heal()
  },
  async halted({ service }) {
    service.child.kill('SIGSTOP')
    await pause()
    service.child.kill('SIGCONT')
  },
}

/** Creates tasks through one replica after another until told to stop; keeps those that were accepted. */
async function load(replicas: Replica[], accepted: Set<string>, stop: AbortSignal): Promise<void> {
  for (let n = 0; !stop.aborted; n++) {
    const service = replicas[n % replicas.length]?.service
    const id = service && (await createScriptedTask(service, [{ act: 'ping' }, { output: n }]).catch(() => null))
    if (id) accepted.add(id)
    else await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test.each(attemptNumbers(1))(
  'three replicas that are killed, cut off, swallowed and halted in turn keep every promise (%d)',
  async () => {
    const place = await createScriptedDeployment('postgres')
    await (await place.open({ SVC_DATA_DIR: 'opened' })).terminate()
    const replicas = [await replicaOn(place, 'a'), await replicaOn(place, 'b'), await replicaOn(place, 'c')]
    const accepted = new Set<string>()
    const stopping = new AbortController()
    const loads = Promise.all([1, 2].map(() => load(replicas, accepted, stopping.signal)))
    for (const [turn, fault] of Object.values(FAULTS).entries()) {
      const replica = replicas[(turn + Math.floor(Math.random() * 3)) % 3]
      const before = accepted.size
      if (replica) await fault(replica)
      await eventually(() => accepted.size > before)
    }
    stopping.abort()
    await loads
    const witness = replicas[0]?.service
    if (!witness) throw new Error('no replica')
    await eventually(async () => (await witness.call('GET', '/health')).status === 200)
    const ended = await expectInvariants(witness, await place.openRows(), {
      tasks: accepted,
      received: place.outside.received,
    })
    const reasons = [...ended.values()].map(({ status, error }) => error?.reason ?? status)
    expect(reasons.filter((reason) => reason !== 'succeeded' && reason !== 'interrupted')).toEqual([])
  },
  FAULT_TIMEOUT_MS,
)
