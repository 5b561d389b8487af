import { onTestFinished, test } from 'vitest'
import { addConnections } from '../approvals/decisions/gated-app.ts'
import { eventually } from '../execution/runs/scripted-agent.ts'
import { expectInvariants } from './invariants.ts'
import { createResumableDeployment, createResumableTask, expectUndisturbed } from './resumable-deployment.ts'
import { TcpProxy } from './tcp-proxy.ts'
import { FAULT_TIMEOUT_MS, attemptNumbers } from './rounds.ts'
import type { Deployment, ServiceProcess } from './service-process.ts'

/** A replica that reaches the database through its own proxy. */
interface Replica {
  service: ServiceProcess
  proxy: TcpProxy
  restart(): Promise<void>
}

async function startReplica(deployment: Deployment, name: string): Promise<Replica> {
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
    const id = service && (await createResumableTask(service).catch(() => null))
    if (id) accepted.add(id)
    else await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test.each(attemptNumbers(1))(
  'three replicas that are killed, disconnected, cut off silently and suspended in turn: every run ends as an undisturbed one (%d)',
  async () => {
    const { outside, deployment } = await createResumableDeployment('postgres')
    const opened = await deployment.start({ SVC_DATA_DIR: 'opened' })
    await addConnections(opened, outside.url)
    const undisturbed = await opened.events(await createResumableTask(opened))
    await opened.terminate()
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
    const db = await deployment.openRows()
    const tasks = await db.selectFrom('tasks').select('id').execute()
    for (let start = 0; start < tasks.length; start += 20)
      await Promise.all(
        tasks.slice(start, start + 20).map(({ id }) => expectUndisturbed(survivor, outside, id, undisturbed)),
      )
    await expectInvariants(survivor, db, { tasks: accepted, received: outside.received })
  },
  FAULT_TIMEOUT_MS,
)
