import { expect, onTestFinished, test } from 'vitest'
import { eachStore } from '../app.ts'
import { addConnections, GATED_ENV, gatedWedgeFiles } from '../approvals/gated-app.ts'
import { createAndGetId, openPortal } from '../channels/channel-app.ts'
import { openFakeUpstream, respondJson } from '../fake-upstream.ts'
import { createDeployment, type ServiceProcess } from '../faults/service-process.ts'
import { callSlackHook, linkOwner, signUpOwner } from '../faults/slack-owner.ts'
import { waitForEvent } from '../faults/scripted-deployment.ts'
import { PUBLIC_URL, requestAccess } from '../mcp/oauth-app.ts'
import { clickOf, readSlackMessage } from '../notifications/slack-app.ts'
import type { StoreKind } from '../stores.ts'

const WEDGES = {
  ...gatedWedgeFiles('gate', { approvals: [{ action: 'send_note', risk: 'low', required: true }] }),
  'desk/wedge.json': { wedge: 'desk', task_types: { triage: {} } },
  'desk/rehearsals/triage.json': [{ output: {} }],
}

/** From before the call arrives until it was answered, on a machine of usual speed. */
const DELAYS_MS = [0, 8, 30]

/** A service that is started again after it was killed. */
async function openRestartedService(store: StoreKind) {
  const env = { ...GATED_ENV, SVC_PUBLIC_URL: PUBLIC_URL }
  const deployment = await createDeployment(store, { wedges: WEDGES, env })
  let service = await deployment.start()
  return {
    get url() {
      return service.url
    },
    call: (...args: Parameters<ServiceProcess['call']>) => service.call(...args),
    waitForApproval: (task: string) => waitForEvent(service, task, 'approval.requested'),
    events: (task: string) => service.events(task),
    openRows: () => deployment.openRows(),
    /** Kills the service a moment after the start of a call. Null: the caller got no answer. */
    async killDuring<Answer>(call: () => Promise<Answer>, delayMs: number): Promise<Answer | null> {
      const answer = call().catch(() => null)
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      await service.kill()
      const received = await answer
      service = await deployment.start()
      return received
    },
  }
}

interface PortalMessage {
  direction: string
  body: string
  task_id: string | null
}

eachStore((store) => {
  test('kill -9 while a client sends a message in the portal: it is stored with its task, or not at all', async () => {
    const service = await openRestartedService(store)
    const connection_id = await createAndGetId(service, '/v1/connections', { kind: 'email', name: 'desk' })
    const binding = { connection_id, address: 'help@desk.example', wedge: 'desk', task_type: 'triage' }
    const channel = await createAndGetId(service, '/v1/channels', binding)
    const { portal, thread_id } = await openPortal({ call: service.call, channel }, 'kim@example.com', {
      body: 'First',
    })
    const readInbound = async (): Promise<PortalMessage[]> => {
      const { messages } = (await service.call('GET', `/v1/threads/${thread_id}`)).body
      return messages.filter(({ direction }: PortalMessage) => direction === 'inbound')
    }
    for (const delayMs of DELAYS_MS) {
      const body = `After ${delayMs} ms`
      const send = () => portal('POST', `threads/${thread_id}/messages`, { body })
      const answer = await service.killDuring(send, delayMs)
      const isStored = (await readInbound()).some((message) => message.body === body)
      expect([answer === null, isStored]).not.toEqual([false, false])
      // The client sees in the conversation whether the message has arrived.
      if (!isStored) expect((await send()).status).toBe(201)
    }
    const inbound = await readInbound()
    expect(inbound.map(({ body }) => body)).toEqual(['First', ...DELAYS_MS.map((ms) => `After ${ms} ms`)])
    const tasks: { id: string }[] = (await service.call('GET', '/v1/tasks')).body.data
    expect(tasks).toHaveLength(inbound.length)
    expect(new Set(inbound.map(({ task_id }) => task_id))).toEqual(new Set(tasks.map(({ id }) => id)))
    expect((await service.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  })

  test('kill -9 while an app exchanges its code: the code gives tokens once, and a second use ends the access', async () => {
    const service = await openRestartedService(store)
    const session = await signUpOwner(service)
    const db = await service.openRows()
    const countTokens = async () => (await db.selectFrom('mcp_tokens').select('hash').execute()).length
    const listAccess = async () =>
      (await service.call('GET', '/v1/mcp-authorisations', undefined, { key: session })).body.data
    for (const delayMs of DELAYS_MS) {
      const { exchange, refresh } = await requestAccess(service, session)
      const lost = (await service.killDuring(exchange, delayMs)) === null
      // Both tokens or none, whether or not the app got the answer.
      const stored = await countTokens()
      expect(lost ? [0, 2] : [2]).toContain(stored)
      const again = await exchange().catch(() => null)
      expect(again !== null).toBe(stored === 0)
      if (again) {
        expect(await refresh(again.refresh_token ?? '')).toHaveProperty('access_token')
        await expect(exchange()).rejects.toThrow()
      }
      expect([await countTokens(), await listAccess()]).toEqual([0, []])
    }
    const actions = (await db.selectFrom('audit_entries').select('action').execute()).map(({ action }) => action)
    const countOf = (name: string) => actions.filter((action) => action === name).length
    expect(countOf('mcp_app.connected')).toBe(DELAYS_MS.length)
    expect(countOf('mcp_app.revoked')).toBe(DELAYS_MS.length)
    expect((await service.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  })

  test('kill -9 while a member decides in Slack: the repeated click changes nothing, and the action is sent once', async () => {
    const service = await openRestartedService(store)
    const provider = await openFakeUpstream()
    onTestFinished(() => provider.close())
    let ts = 0
    provider.respond = (_, response) => respondJson(response, 200, { ok: true, channel: 'D1', ts: `1.${++ts}` })
    await addConnections(service, provider.url)
    const { hookPath } = await linkOwner(service, provider.url)
    for (const delayMs of DELAYS_MS) {
      const input = { connection: 'crm', action: 'send_note', payload: { text: `After ${delayMs} ms` } }
      const task = await createAndGetId(service, '/v1/tasks', { wedge: 'gate', task_type: 'act', input })
      const approval = await service.waitForApproval(task)
      const findMessage = () =>
        provider.received.find(({ url, body }) => url === '/chat.postMessage' && body.includes(approval))
      await expect.poll(findMessage).toBeDefined()
      const body = clickOf({ provider }, 'U1', readSlackMessage(findMessage() ?? expect.fail()), 'approve')
      const click = () => callSlackHook(service, hookPath, body)
      await service.killDuring(click, delayMs)
      expect((await Promise.all([click(), click()])).map(({ status }) => status)).toEqual([200, 200])
      const events = await service.events(task)
      expect(events.filter(({ event }) => event === 'approval.resolved')).toHaveLength(1)
      const sent = provider.received.filter(({ headers }) => headers['idempotency-key'] === approval)
      const [{ outcome }] = (await service.call('GET', `/v1/tasks/${task}/actions`)).body.data
      // It is unknown whether a call that the kill interrupted has arrived, so it is not repeated.
      if (outcome !== 'unknown') expect([outcome, sent.length]).toEqual(['ok', 1])
      expect(sent.length).toBeLessThanOrEqual(1)
    }
    const { data } = (await service.call('GET', '/v1/approvals?status=approved')).body
    expect(data).toHaveLength(DELAYS_MS.length)
    expect((await service.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  })
})
