import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { GATED_ENV, gatedWedgeFiles } from '../approvals/decisions/gated-app.ts'
import { openFakeUpstream } from '../fake-upstream.ts'
import { freePort } from '../free-port.ts'
import { killPostgres, runAdminStatement } from '../postgres.ts'
import { openPostgresStore } from '../../src/platform/store/postgres/postgres-store.ts'
import { BalancedClient, createProjects, type Observed } from './balanced-clients.ts'
import { startLoadBalancer } from './haproxy.ts'
import { createReplicatedPostgres } from './replicated-postgres.ts'
import { FAULT_TIMEOUT_MS } from './rounds.ts'
import { createDeploymentFolder, removeDeploymentFolder, ServiceProcess } from './service-process.ts'

const PROJECTS = 16
const CLIENTS_PER_PROJECT = 2
const ENV = {
  ...GATED_ENV,
  SVC_DRAIN_DELAY_S: '1',
  SVC_DATABASE_WAIT_S: '30',
  SVC_MAX_CONCURRENT_TASKS: '32',
}

/** Three replicas on fixed ports, so that each can be replaced at its address. */
async function startReplicas(database: string): Promise<{ ports: number[]; replace(index: number): Promise<void> }> {
  const dir = createDeploymentFolder(gatedWedgeFiles('gate'))
  onTestFinished(() => removeDeploymentFolder(dir))
  const ports = [await freePort(), await freePort(), await freePort()]
  const replicas: ServiceProcess[] = []
  const start = async (index: number) => {
    const own = { SVC_PORT: String(ports[index]), SVC_DATA_DIR: join(dir, `data-${index}`), DATABASE_URL: database }
    const replica = await ServiceProcess.start(dir, { ...ENV, ...own })
    onTestFinished(() => replica.kill())
    replicas[index] = replica
    await expect.poll(async () => (await replica.call('GET', '/readyz')).status).toBe(200)
  }
  for (const index of ports.keys()) await start(index)
  return {
    ports,
    async replace(index) {
      expect(await replicas[index]?.terminate()).toBe(0)
      await start(index)
    },
  }
}

/** Lets the clients complete tasks until `stop` is called, which resolves when their last tasks have ended. */
function startLoad(url: string, keys: readonly string[]) {
  const observed: Observed = { tasks: new Map(), decisions: new Map(), failures: [], resumed: 0, slowestMs: 0 }
  const stopping = new AbortController()
  const clients = keys.flatMap((key, project) =>
    Array.from({ length: CLIENTS_PER_PROJECT }, async (_, number) => {
      const client = new BalancedClient(url, key, observed)
      for (let n = 0; !stopping.signal.aborted; n++) await client.completeTask(`${project}-${number}-${n}`)
    }),
  )
  const ended = Promise.all(clients)
  ended.catch(() => {})
  return {
    observed,
    stop() {
      stopping.abort()
      return ended
    },
    /** Resolves when this many more tasks were created. */
    more: (count: number) => {
      const before = observed.tasks.size
      return expect.poll(() => observed.tasks.size, { timeout: 60_000 }).toBeGreaterThan(before + count)
    },
  }
}

test(
  'three replicas behind HAProxy, rolling restart and PostgreSQL failover under load: nothing is lost, doubled or refused',
  async () => {
    const { primary, standby, url: database } = await createReplicatedPostgres()
    const outside = await openFakeUpstream()
    onTestFinished(() => outside.close())
    const replicas = await startReplicas(database)
    const url = await startLoadBalancer(replicas.ports)
    const keys = await createProjects(url, PROJECTS, outside.url)
    const load = startLoad(url, keys)
    const { observed } = load

    await load.more(50)
    for (const index of replicas.ports.keys()) await replicas.replace(index)
    await load.more(50)
    await killPostgres(primary)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await runAdminStatement(standby.url, 'select pg_promote()')
    await load.more(50)
    await load.stop()

    expect(observed.failures).toEqual([])
    const store = await openPostgresStore(database, () => {})
    onTestFinished(() => store.close())
    const tasks = await store.db.selectFrom('tasks').select('id').execute()
    expect(tasks.map(({ id }) => id).toSorted()).toEqual([...observed.tasks.values()].toSorted())
    const sent = outside.received.map(({ headers }) => String(headers['idempotency-key']))
    expect(sent.toSorted()).toEqual([...observed.decisions.keys()].toSorted())
    for (const key of keys) {
      const client = new BalancedClient(url, key, observed)
      expect((await client.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true, first_bad_seq: null })
    }
  },
  FAULT_TIMEOUT_MS,
)
