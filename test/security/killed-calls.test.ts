import { expect, onTestFinished, test } from 'vitest'
import { anyStore } from '../app.ts'
import { addConnections, GATED_ENV, gatedWedgeFiles } from '../approvals/decisions/gated-app.ts'
import { createAndGetId, openPortal } from '../customers/channels/channel-app.ts'
import { openFakeUpstream, type ReceivedRequest, respondJson } from '../fake-upstream.ts'
import { createDeployment, type ServiceProcess, SHORT_LEASE } from '../faults/service-process.ts'
import { linkDecidingOwner } from '../faults/deciding-owner.ts'
import { waitForEvent } from '../faults/scripted-deployment.ts'
import { signUpOwner } from '../faults/slack-owner.ts'
import { openTableLock } from '../faults/table-lock.ts'
import { PUBLIC_URL, requestAccess } from '../server/mcp/oauth-app.ts'
import type { ApiResponse } from '../http.ts'
import type { StoreKind } from '../stores.ts'
import { onlyInMatrix } from '../matrix.ts'

const WEDGES = {
  ...gatedWedgeFiles('gate'),
  'desk/wedge.json': { wedge: 'desk', task_types: { triage: {} } },
  'desk/rehearsals/triage.json': [{ output: {} }],
}

/** A service that is started again after it was killed. */
async function openRestartedService(store: StoreKind) {
  const env = { ...GATED_ENV, ...SHORT_LEASE, SVC_PUBLIC_URL: PUBLIC_URL }
  const deployment = await createDeployment(store, { wedges: WEDGES, env })
  let service = await deployment.start()
  /** Kills the service during a call, when it has reached a state. Null: the caller got no answer. */
  const killDuring = async <Answer>(call: () => Promise<Answer>, reached: () => Promise<unknown>) => {
    const answer = call().catch(() => null)
    await reached()
    await service.kill()
    return answer
  }
  const restart = async () => {
    service = await deployment.start()
  }
  return {
    get url() {
      return service.url
    },
    call: (...args: Parameters<ServiceProcess['call']>) => service.call(...args),
    waitForApproval: (task: string) => waitForEvent(service, task, 'approval.requested'),
    openRows: () => deployment.openRows(),
    /**
     * Kills the service before the commit of a call. Only PostgreSQL can stop a transaction there;
     * `kill-writes.matrix.test.ts` kills the service at the writes of SQLite.
     */
    async killBeforeCommit(call: () => Promise<unknown>): Promise<void> {
      if (deployment.database === null) return
      const { hold, waitForBlocked, release } = await openTableLock(deployment.database)
      await hold('audit_heads', 'exclusive')
      expect(await killDuring(call, () => waitForBlocked(1))).toBeNull()
      await release()
      await restart()
    },
    /** Kills the service when a call has been committed. */
    async killAfterCommit(call: () => Promise<unknown>, isCommitted: () => Promise<boolean>): Promise<void> {
      await killDuring(call, () => expect.poll(isCommitted, { interval: 5 }).toBe(true))
      await restart()
    },
  }
}

const MOMENTS = ['before its commit', 'after its commit'] as const

anyStore((store) => {
  test('kill -9 while a client sends a message in the portal: sent again with its key, it is one message with one task', async () => {
    const service = await openRestartedService(store)
    const connection_id = await createAndGetId(service, '/v1/connections', { kind: 'email', name: 'desk' })
    const binding = { connection_id, address: 'help@desk.example', wedge: 'desk', task_type: 'triage' }
    const channel = await createAndGetId(service, '/v1/channels', binding)
    const { portal, thread_id } = await openPortal({ call: service.call, channel }, 'kim@example.com', {
      body: 'First',
    })
    const db = await service.openRows()
    const readInbound = () =>
      db.selectFrom('messages').selectAll().where('direction', '=', 'inbound').orderBy('n').execute()
    const sendOnce = (body: string) => () =>
      portal('POST', `threads/${thread_id}/messages`, { body }, { 'idempotency-key': body })
    await service.killBeforeCommit(sendOnce(MOMENTS[0]))
    const first = await sendOnce(MOMENTS[0])()
    expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([201, null])
    const isStored = async () => (await readInbound()).some(({ body }) => body === MOMENTS[1])
    await service.killAfterCommit(sendOnce(MOMENTS[1]), isStored)
    const again = await sendOnce(MOMENTS[1])()
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    const inbound = await readInbound()
    expect(inbound.map(({ body }) => body)).toEqual(['First', ...MOMENTS])
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

    const { exchange, refresh } = await requestAccess(service, session)
    await service.killBeforeCommit(exchange)
    // Nothing was committed, so the code is still good.
    const tokens = await exchange()
    expect(await refresh(tokens.refresh_token ?? '')).toHaveProperty('access_token')
    await expect(exchange()).rejects.toThrow()
    expect([await countTokens(), await listAccess()]).toEqual([0, []])

    const interrupted = await requestAccess(service, session)
    await service.killAfterCommit(interrupted.exchange, async () => (await countTokens()) === 2)
    await expect(interrupted.exchange()).rejects.toThrow()
    expect([await countTokens(), await listAccess()]).toEqual([0, []])

    const actions = (await db.selectFrom('audit_entries').select('action').execute()).map(({ action }) => action)
    const countOf = (name: string) => actions.filter((action) => action === name).length
    expect([countOf('mcp_app.connected'), countOf('mcp_app.revoked')]).toEqual([2, 2])
    expect((await service.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  })

  onlyInMatrix(() => {
    test.each(['Slack', 'Telegram'] as const)(
      'kill -9 while a member decides in %s: the repeated click changes nothing, and the action is sent once',
      async (chat) => {
        const service = await openRestartedService(store)
        const { provider, state } = await openChatProvider()
        await addConnections(service, provider.url)
        const findClick = await linkDecidingOwner(chat, service, provider)
        const db = await service.openRows()
        const askForDecision = async (text: string) => {
          const input = { connection: 'crm', action: 'send_note', payload: { text } }
          const task = await createAndGetId(service, '/v1/tasks', { wedge: 'gate', task_type: 'act', input })
          const approval = await service.waitForApproval(task)
          const row = db.selectFrom('approvals').select('held_until').where('id', '=', approval)
          const resolved = db.selectFrom('events').select('seq').where('task_id', '=', task)
          return {
            click: await findClick(approval),
            isHeld: async () => (await row.executeTakeFirstOrThrow()).held_until !== null,
            countResolved: async () => (await resolved.where('type', '=', 'approval.resolved').execute()).length,
            sent: () => provider.received.filter((received) => actionKey(received) === approval),
            outcome: async () => (await service.call('GET', `/v1/tasks/${task}/actions`)).body.data[0]?.outcome,
          }
        }
        const clickTwice = async ({ click }: { click: () => Promise<ApiResponse> }) =>
          expect((await Promise.all([click(), click()])).map(({ status }) => status)).toEqual([200, 200])

        const early = await askForDecision(MOMENTS[0])
        await service.killBeforeCommit(early.click)
        expect(await early.isHeld()).toBe(false)
        await clickTwice(early)
        // The member can undo the approval for five seconds.
        await expect.poll(early.outcome).toBe('ok')
        expect([await early.countResolved(), early.sent().length]).toEqual([1, 1])

        const late = await askForDecision(MOMENTS[1])
        state.holdsActions = true
        await service.killAfterCommit(late.click, late.isHeld)
        // Then the action reaches the provider, which does not answer.
        await service.killAfterCommit(late.click, async () => late.sent().length > 0)
        state.holdsActions = false
        expect(await late.countResolved()).toBe(1)
        await clickTwice(late)
        // It is unknown whether a call that the kill interrupted has arrived, so it is not repeated.
        await expect.poll(late.outcome).toBe('unknown')
        expect([await late.countResolved(), late.sent().length]).toEqual([1, 1])
        expect((await service.call('GET', '/v1/approvals?status=approved')).body.data).toHaveLength(2)
        expect((await service.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
      },
    )
  })
})

const actionKey = ({ headers }: ReceivedRequest) => headers['idempotency-key']

/** Slack, Telegram and the server of the actions, which can leave actions without an answer. */
async function openChatProvider() {
  const provider = await openFakeUpstream()
  onTestFinished(() => provider.close())
  const state = { holdsActions: false }
  let sent = 0
  provider.respond = (received, response) => {
    if (state.holdsActions && actionKey(received) !== undefined) return
    const result = { message_id: ++sent, username: 'desk_bot', chat: { id: 7, type: 'private' } }
    respondJson(response, 200, { ok: true, channel: 'D1', ts: `1.${sent}`, result })
  }
  return { provider, state }
}
