import { expect, onTestFinished, test } from 'vitest'
import { addConnections, GATED_ENV, gatedWedgeFiles } from '../approvals/decisions/gated-app.ts'
import { openFakeUpstream, respondJson } from '../fake-upstream.ts'
import type { ApiResponse } from '../http.ts'
import { FAULT_TIMEOUT_MS } from './rounds.ts'
import { createDeployment, type Deployment, type ServiceProcess } from './service-process.ts'

const PARKED = 200
const DEPLOYS = 3
const INPUT = { connection: 'crm', action: 'send_note', payload: { text: 'hello' } }
const WEDGES = gatedWedgeFiles('gate', { task_types: { act: {} } })
const ENV = { ...GATED_ENV, SVC_PARK_AFTER_S: '1', SVC_DRAIN_DELAY_S: '2', SVC_APPROVAL_TTL_S: '3600' }

/** Sends each request to the next replica whose health is good, as a load balancer does. */
class LoadBalancer {
  readonly failures: string[] = []
  #replicas: ServiceProcess[] = []
  #healthy: ServiceProcess[] = []
  #next = 0
  readonly #timer = setInterval(() => void this.#check(), 100)

  async add(replica: ServiceProcess): Promise<void> {
    this.#replicas.push(replica)
    await this.#check()
  }

  remove(replica: ServiceProcess): void {
    this.#replicas = this.#replicas.filter((one) => one !== replica)
  }

  async call(method: string, path: string, body?: unknown): Promise<ApiResponse> {
    const replica = this.#healthy[this.#next++ % this.#healthy.length]
    if (!replica) throw new Error('no replica is healthy')
    const fail = (why: string) => void this.failures.push(`${method} ${path}: ${why}`)
    const response = await replica.call(method, path, body).catch((error: unknown) => {
      fail(String(error))
      throw error
    })
    if (response.status >= 500) fail(`${response.status}`)
    return response
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #check(): Promise<void> {
    const states = await Promise.all(
      this.#replicas.map((replica) => replica.call('GET', '/health').catch(() => ({ status: 0 }))),
    )
    this.#healthy = this.#replicas.filter((_, index) => states[index]?.status === 200)
  }
}

/** Starts a new replica and stops an old one, as a deploy does. */
async function replace(deployment: Deployment, balancer: LoadBalancer, old: ServiceProcess, name: string) {
  const replica = await deployment.start({ SVC_DATA_DIR: name })
  await balancer.add(replica)
  expect(await old.terminate()).toBe(0)
  balancer.remove(old)
  return replica
}

test(
  '200 parked approvals and a load through three rolling deploys of two replicas: none is lost or doubled, no request fails',
  async () => {
    const outside = await openFakeUpstream()
    onTestFinished(() => outside.close())
    outside.respond = (_request, response) => respondJson(response, 200, { done: true })
    const deployment = await createDeployment('postgres', { wedges: WEDGES, env: ENV })
    const balancer = new LoadBalancer()
    onTestFinished(() => balancer.stop())
    let replicas = [
      await deployment.start({ SVC_DATA_DIR: 'first' }),
      await deployment.start({ SVC_DATA_DIR: 'second' }),
    ]
    for (const replica of replicas) await balancer.add(replica)
    await addConnections(balancer, outside.url)
    const createTask = async () =>
      (await balancer.call('POST', '/v1/tasks', { wedge: 'gate', task_type: 'act', input: INPUT })).body.id
    const parked = new Set<string>()
    while (parked.size < PARKED) parked.add(await createTask())
    const pending = async () => (await balancer.call('GET', '/v1/approvals?status=pending&limit=200')).body.data
    await expect.poll(async () => (await pending()).length).toBe(PARKED)

    const deploying = new AbortController()
    const created: string[] = []
    const load = Promise.all(
      [1, 2, 3].map(async () => {
        while (!deploying.signal.aborted) {
          const id = await createTask()
          created.push(id)
          await balancer.call('GET', `/v1/tasks/${id}`)
          const [approval] = await pending()
          // Two deciders may choose the same approval: the second gets 409.
          const { status } = await balancer.call('POST', `/v1/approvals/${approval.approval_id}/approve`)
          expect([200, 409]).toContain(status)
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }),
    )
    for (let deploy = 1; deploy <= DEPLOYS; deploy++) {
      const next: ServiceProcess[] = []
      for (const [index, old] of replicas.entries())
        next.push(await replace(deployment, balancer, old, `${deploy}-${index}`))
      replicas = next
    }
    deploying.abort()
    await load

    const all = [...parked, ...created]
    for (;;) {
      const open = await pending()
      if (open.length === 0) break
      for (const { approval_id } of open) await balancer.call('POST', `/v1/approvals/${approval_id}/approve`)
    }
    for (const id of all) {
      await expect
        .poll(async () => (await balancer.call('GET', `/v1/tasks/${id}`)).body)
        .toMatchObject({ status: 'succeeded', output: { ok: true } })
    }
    expect(balancer.failures).toEqual([])
    const keys = outside.received.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(all.length)
    expect(new Set(keys).size).toBe(all.length)
    expect((await balancer.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  },
  FAULT_TIMEOUT_MS,
)
