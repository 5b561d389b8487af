import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import type { Db } from '../../src/platform/store/store.ts'
import { addConnections, GATED_ENV, gatedWedgeFiles } from '../approvals/decisions/gated-app.ts'
import { openFakeUpstream, respondJson } from '../fake-upstream.ts'
import { callApi } from '../http.ts'
import { readSlackMessage } from '../approvals/notifications/slack-app.ts'
import type { StoreKind } from '../stores.ts'
import { FAULT_TIMEOUT_MS } from './rounds.ts'
import { waitForEvent } from './scripted-deployment.ts'
import { createDeployment, SHORT_LEASE } from './service-process.ts'
import { linkOwner } from './slack-owner.ts'
import { inMatrix } from '../matrix.ts'

/** Slack, whose answer to the next call of a method can be held back. */
async function openSlackRecorder() {
  const provider = await openFakeUpstream()
  onTestFinished(() => provider.close())
  let ts = 0
  let held: { url: string; onCall: () => void } | null = null
  const answer = (response: ServerResponse) => respondJson(response, 200, { ok: true, channel: 'D1', ts: `1.${++ts}` })
  provider.respond = ({ url }, response) => {
    if (held?.url !== url) return answer(response)
    held.onCall()
    held = null
  }
  return {
    url: provider.url,
    /** What was sent with this method, oldest first. */
    messages: (method: string) => provider.received.filter(({ url }) => url === method).map(readSlackMessage),
    /** Resolves at the next call of the method, which gets no answer. */
    holdNext: (url: string) => new Promise<void>((onCall) => (held = { url, onCall })),
  }
}

const readMessage = (db: Db, approval: string) =>
  db.selectFrom('notification_messages').selectAll().where('approval_id', '=', approval).executeTakeFirstOrThrow()

/** As if the two minutes had passed after which another replica takes over the messages of a dead one. */
async function endClaim(db: Db, approval: string): Promise<void> {
  expect((await readMessage(db, approval)).claimed_until).not.toBeNull()
  const claimed_until = '2000-01-01T00:00:00.000Z'
  await db.updateTable('notification_messages').set({ claimed_until }).where('approval_id', '=', approval).execute()
}

async function killWhileMessagesAreSent(store: StoreKind): Promise<void> {
  const slack = await openSlackRecorder()
  const deployment = await createDeployment(store, {
    wedges: gatedWedgeFiles('gate'),
    env: { ...GATED_ENV, ...SHORT_LEASE },
  })
  let service = await deployment.start()
  const db = await deployment.openRows()
  await addConnections(service, slack.url)
  const { session } = await linkOwner(service, slack.url)

  const posting = slack.holdNext('/chat.postMessage')
  const input = { connection: 'crm', action: 'send_note', payload: { text: 'hello' } }
  const { body: task } = await service.call('POST', '/v1/tasks', { wedge: 'gate', task_type: 'act', input })
  const approval = await waitForEvent(service, task.id, 'approval.requested')
  await posting
  await service.kill()
  await endClaim(db, approval)
  service = await deployment.start()
  await expect.poll(async () => (await readMessage(db, approval)).state).toBe('sent')
  const posts = slack.messages('/chat.postMessage').filter(({ blocks }) => JSON.stringify(blocks).includes(approval))
  expect(posts).toHaveLength(2)

  const rewriting = slack.holdNext('/chat.update')
  const decided = await callApi(service.url, session, 'POST', `/v1/approvals/${approval}/reject`, { reason: 'no' })
  expect(decided.status).toBe(200)
  await rewriting
  await service.kill()
  await endClaim(db, approval)
  service = await deployment.start()
  await expect.poll(async () => (await readMessage(db, approval)).shown).toBe('rejected')
  const { external_id } = await readMessage(db, approval)
  const updates = slack.messages('/chat.update')
  expect(updates.map(({ channel, ts }) => `${channel}:${ts}`)).toEqual([external_id, external_id])
  expect(JSON.stringify(updates.at(-1)?.blocks)).toContain('Rejected by owner@example.com: no')
  expect((await service.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
}

test.each(inMatrix<StoreKind>(['sqlite', 'postgres'], ['sqlite']))(
  'on %s: kill -9 between a message in Slack and its record, and while it is rewritten, loses no message',
  killWhileMessagesAreSent,
  FAULT_TIMEOUT_MS,
)
