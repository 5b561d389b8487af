import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../runs/scripted-agent.ts'
import { createScriptedTask, type ScriptedDeployment, createScriptedDeployment } from './scripted-deployment.ts'
import { expectInvariants } from './invariants.ts'
import { TcpProxy } from './tcp-proxy.ts'
import { FAULT_TIMEOUT_MS, attemptNumbers } from './rounds.ts'
import type { ServiceProcess } from './service-process.ts'

/** A replica that reaches the database through its own proxy. */
interface Replica {
  service: ServiceProcess
  proxy: TcpProxy
  restart(): Promise<void>
}

async function startReplica(deployment: ScriptedDeployment, name: string): Promise<Replica> {
  const proxy = await TcpProxy.openFor(deployment.database ?? '')
  onTestFinished(() => proxy.close())
  const env = { SVC_DATA_DIR: name, DATABASE_URL: proxy.url }
  const replica: Replica = {
    proxy,
    service: await deployment.start(env),
    async restart() {
      await replica.service.kill()
      replica.service = await deployment.start(env)
    },
  }
  return replica
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 1_000))

/** Faults that happen to one replica while the others continue. */
const FAULTS: Record<string, (replica: Replica) => Promise<unknown>> = {
  'killed and restarted': (replica) => replica.restart(),
  async 'disconnected from the database'({ proxy }) {
    proxy.cut()
    await pause()
    proxy.heal()
  },
  async 'connected to a silent database'({ proxy }) {
    proxy.blackHole()
    await pause()
    proxy.heal()
  },
  async suspended({ service }) {
    service.child.kill('SIGSTOP')
    await pause()
    service.child.kill('SIGCONT')
  },
}

/** Creates tasks through one replica after another until `stop`, and adds the ids of accepted tasks to `accepted`. */
async function createTasks(replicas: Replica[], accepted: Set<string>, stop: AbortSignal): Promise<void> {
  for (let n = 0; !stop.aborted; n++) {
    const service = replicas[n % replicas.length]?.service
    const id = service && (await createScriptedTask(service, [{ act: 'ping' }, { output: n }]).catch(() => null))
    if (id) accepted.add(id)
    else await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test.each(attemptNumbers(1))(
  'three replicas that are killed, disconnected, cut off silently and suspended in turn keep every guarantee (%d)',
  async () => {
    const deployment = await createScriptedDeployment('postgres')
    await (await deployment.open({ SVC_DATA_DIR: 'opened' })).terminate()
    const replicas = [
      await startReplica(deployment, 'a'),
      await startReplica(deployment, 'b'),
      await startReplica(deployment, 'c'),
    ]
    const accepted = new Set<string>()
    const stopping = new AbortController()
    const loads = Promise.all([1, 2].map(() => createTasks(replicas, accepted, stopping.signal)))
    for (const [index, fault] of Object.values(FAULTS).entries()) {
      const replica = replicas[(index + Math.floor(Math.random() * 3)) % 3]
      const before = accepted.size
      if (replica) await fault(replica)
      await eventually(() => accepted.size > before)
    }
    stopping.abort()
    await loads
    const survivor = replicas[0]?.service
    if (!survivor) throw new Error('no replica')
    await eventually(async () => (await survivor.call('GET', '/health')).status === 200)
    const ended = await expectInvariants(survivor, await deployment.openRows(), {
      tasks: accepted,
      received: deployment.outside.received,
    })
    const reasons = [...ended.values()].map(({ status, error }) => error?.reason ?? status)
    expect(reasons.filter((reason) => reason !== 'succeeded' && reason !== 'interrupted')).toEqual([])
  },
  FAULT_TIMEOUT_MS,
)
