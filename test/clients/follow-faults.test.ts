import { expect, test } from 'vitest'
import { AgentWorkClient, type Event } from '../../clients/typescript/src/client.ts'
import { FOUNDER_KEY, testApp } from '../app.ts'
import { addConnections, GATED_ENV, gatedWedgeFiles } from '../approvals/decisions/gated-app.ts'
import { openFakeUpstream } from '../fake-upstream.ts'
import { FAULT_TIMEOUT_MS } from '../faults/rounds.ts'
import { createScriptedDeployment, createScriptedTask, waitForEvent } from '../faults/scripted-deployment.ts'
import { createDeployment, SHORT_LEASE } from '../faults/service-process.ts'
import { anyStore } from '../stores.ts'
import {
  appendAsRun,
  cancelTask,
  progressEvents,
  SCRIPTED_AGENT,
  startScriptedTask,
} from '../work/tasks/scripted-agent.ts'
import { openCuttingProxy } from './cutting-proxy.ts'
import { runPython } from './run-python.ts'

const FOLLOW = `
with AgentWorkClient(given["url"], given["key"]) as service:
  show([event["id"] for event in service.follow(given["id"])])
`

const FOLLOW_TEXTS = `
with AgentWorkClient(given["url"], given["key"]) as service:
  show([event["data"]["text"] for event in service.follow(given["id"]) if event["type"] == "progress"])
`

/** Reads no second event before the task has ended, so that the service closes its stream. */
const FOLLOW_SLOWLY = `
import time
with AgentWorkClient(given["url"], given["key"]) as service:
  ids = []
  for event in service.follow(given["id"]):
    ids.append(event["id"])
    while len(ids) == 1 and service.call("getTask", id=given["id"])["status"] == "running":
      time.sleep(0.2)
  show(ids)
`

/** The numbers of the events that both clients return, while they follow a task at the same time. */
async function followWithBoth(url: string, id: string): Promise<number[][]> {
  const python = runPython(FOLLOW, { url, key: FOUNDER_KEY, id })
  const typescript = followInTypeScript(url, id)
  return [await typescript, (await python).lines[0]]
}

async function followInTypeScript(
  url: string,
  id: string,
  { onEvent, send }: { onEvent?: (event: Event) => unknown; send?: typeof fetch } = {},
) {
  const client = new AgentWorkClient({ url, key: FOUNDER_KEY, fetch: send })
  const ids: number[] = []
  for await (const event of client.follow(id)) {
    ids.push(event.id)
    await onEvent?.(event)
  }
  return ids
}

anyStore((store) => {
  test('follow: each event comes once while connections are cut in the middle of events and lead to changing replicas', {
    timeout: FAULT_TIMEOUT_MS,
  }, async () => {
    const deployment = await createScriptedDeployment(store)
    const first = await deployment.open()
    const replicas = store === 'postgres' ? [first, await deployment.start()] : [first]
    const proxy = await openCuttingProxy(replicas.map(({ url }) => url))
    proxy.cutAfterBytes = 100_000
    const id = await createScriptedTask(first, [{ flood: 1000 }, { act: 'ping' }, { flood: 1000 }, { output: {} }])
    const followed = await followWithBoth(proxy.url, id)
    const log = (await first.events(id)).map((event) => Number(event.id))
    expect(log.length).toBeGreaterThan(2000)
    expect(followed).toEqual([log, log])
    expect(proxy.opened).toBeGreaterThan(20)
  })

  test('follow: each event comes once although the service is killed and started again', {
    timeout: FAULT_TIMEOUT_MS,
  }, async () => {
    const outside = await openFakeUpstream()
    const deployment = await createDeployment(store, {
      wedges: gatedWedgeFiles('gate'),
      env: { ...GATED_ENV, ...SHORT_LEASE },
    })
    const killed = await deployment.start()
    await addConnections(killed, outside.url)
    const input = { connection: 'crm', action: 'send_note', payload: { text: 'hello' } }
    const { body: task } = await killed.call('POST', '/v1/tasks', { wedge: 'gate', task_type: 'act', input })
    const proxy = await openCuttingProxy([killed.url])
    const following = followWithBoth(proxy.url, task.id)
    const approvalId = await waitForEvent(killed, task.id, 'approval.requested')
    await expect.poll(() => proxy.opened).toBe(2)
    await killed.kill()
    proxy.targets = []
    const opened = proxy.opened
    const started = await deployment.start()
    // Both clients have seen that the service is away.
    await expect.poll(() => proxy.opened).toBeGreaterThanOrEqual(opened + 2)
    proxy.targets = [started.url]
    expect((await started.call('POST', `/v1/approvals/${approvalId}/approve`, {})).status).toBe(200)
    const followed = await following
    const log = await started.events(task.id)
    expect(log.at(-1)?.data.data).toMatchObject({ status: 'succeeded' })
    const ids = log.map((event) => Number(event.id))
    expect(followed).toEqual([ids, ids])
    await outside.close()
  })
})

test('follow: an event may contain the line separators of Unicode', async () => {
  const app = await testApp({ store: 'sqlite', env: SCRIPTED_AGENT })
  const id = await startScriptedTask(app)
  const text = 'a\u2028b\u2029c'
  await appendAsRun(app, id, [{ type: 'progress', data: { text } }])
  await cancelTask(app, id)
  const texts: string[] = []
  const onEvent = (event: Event) => event.type === 'progress' && texts.push(event.data.text)
  await followInTypeScript(app.url, id, { onEvent })
  expect(texts).toEqual([text])
  expect((await runPython(FOLLOW_TEXTS, { url: app.url, key: FOUNDER_KEY, id })).lines).toEqual([[text]])
})

test('follow: a reader that is too slow for the stream gets each event once', async () => {
  const app = await testApp({ store: 'sqlite', env: SCRIPTED_AGENT })
  const id = await startScriptedTask(app)
  const python = runPython(FOLLOW_SLOWLY, { url: app.url, key: FOUNDER_KEY, id })
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  let streams = 0
  const send: typeof fetch = (url, init) => {
    streams++
    return fetch(url, init)
  }
  const typescript = followInTypeScript(app.url, id, { onEvent: () => ended, send })
  // More than the buffers of the sockets hold, and then more than the 5,000 events that the service holds for a reader.
  for (let i = 0; i < 10; i++) await appendAsRun(app, id, progressEvents(100, 'x'.repeat(16_000)))
  for (let i = 0; i < 7; i++) await appendAsRun(app, id, progressEvents(1000))
  await cancelTask(app, id)
  end()
  const log = (await app.events(id)).map((event) => Number(event.id))
  expect(log.length).toBeGreaterThan(8000)
  expect(await typescript).toEqual(log)
  expect(streams).toBe(2)
  expect((await python).lines[0]).toEqual(log)
})
