import type { ServerResponse } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import { addMember, signUpOwner } from '../../identity/accounts/members.ts'
import {
  gatedWedgeFiles,
  type GatedApp,
  openGatedApp,
  requestedApprovalId,
  startAction,
} from '../decisions/gated-app.ts'
import { type FakeUpstream, openFakeUpstream, type ReceivedRequest } from '../../fake-upstream.ts'
import { type ApiResponse, callApi } from '../../http.ts'
import type { StoreKind } from '../../stores.ts'

export const BOT_TOKEN = 'bot-token-of-the-connection'
export const HOOK_SECRET = 'the-secret-of-the-notifier'

/** A member whose account at the service is linked. */
export interface ChatMember {
  id: string
  session: string
  address: string
}

/** A service with an owner, whose members are not told of anything yet. */
export interface TeamApp extends GatedApp {
  owner: { id: string; session: string }
}

/** A service that tells its members through Slack or Telegram, of which a recorder takes the place. */
export interface ChatApp extends TeamApp {
  provider: FakeUpstream
  /** A call of the service, with the body unchanged, to this replica or to the one with another address. */
  deliver: (body: string, headers: Record<string, string>, url?: string) => Promise<ApiResponse>
}

export const CHAT_APPROVALS = [
  { action: 'archive_order', risk: 'low', required: true },
  { action: 'pay', risk: 'high', needed: 2 },
  { action: 'pay_much', risk: 'high', needed: 3 },
  { action: 'payout', risk: 'high' },
  { action: 'transfer', approvers: ['admin'] },
]

export async function openTeamApp(store: StoreKind): Promise<TeamApp> {
  const env = { SVC_PUBLIC_URL: 'https://desk.example', SVC_APPROVAL_TTL_S: '86400' }
  const gated = await openGatedApp(store, gatedWedgeFiles('gate', { approvals: CHAT_APPROVALS }), env)
  onTestFinished(async () => {
    await gated.stop()
    await gated.outside.close()
  })
  const session = await signUpOwner(gated)
  const { body: members } = await gated.call('GET', '/v1/members', undefined, { key: session })
  return { ...gated, owner: { id: members.data[0].id, session } }
}

/** Sets up Slack or Telegram for the team. */
export async function connectChat(
  team: TeamApp,
  kind: 'slack' | 'telegram',
  respond: (received: ReceivedRequest, response: ServerResponse) => void,
): Promise<ChatApp> {
  const provider = await openFakeUpstream()
  provider.respond = respond
  onTestFinished(() => provider.close())
  const path = await addNotifier(team, kind, provider.url)
  const deliver: ChatApp['deliver'] = (body, headers, url = team.url) =>
    callApi(url, '', 'POST', path, undefined, { headers, raw: body })
  return { ...team, provider, deliver }
}

/** Sets up the notifier and returns the path of its hook. */
async function addNotifier(app: GatedApp, kind: string, base_url: string): Promise<string> {
  const connection = { kind: 'custom', name: kind, config: { base_url } }
  const created = await app.call('POST', '/v1/connections', connection)
  await app.call('POST', `/v1/connections/${created.body.id}/secret`, { value: BOT_TOKEN })
  expect((await app.call('PUT', `/v1/notifiers/${kind}`, { connection: kind })).status).toBe(200)
  const { status, body } = await app.call('POST', `/v1/notifiers/${kind}/secret`, { value: HOOK_SECRET })
  expect([status, body.has_secret]).toEqual([200, true])
  // The loop learns of the new notifier.
  await app.clock.advance(1_000)
  return new URL(body.hook_url).pathname
}

/** The code with which a member links an account. */
export async function startLink(app: ChatApp, session: string, kind: string): Promise<{ code: string; url?: string }> {
  const { status, body } = await app.call('POST', '/v1/me/notifications/links', { kind }, { key: session })
  expect(status).toBe(200)
  return body
}

export const addOperator = (app: TeamApp, email: string) => addMember(app, app.owner.session, 'operator', email)

/** A task whose action waits for a decision. */
export async function ask(app: TeamApp, action: string, payload: object): Promise<{ task: string; approval: string }> {
  const { id: task } = await startAction(app, { action, payload })
  return { task, approval: await requestedApprovalId(app, task) }
}

export async function readApproval(app: TeamApp, approval: string) {
  return (await app.call('GET', `/v1/approvals/${approval}`)).body
}

/** Lets the seconds pass in which a member can undo an approval of high risk. */
export async function passHold(app: TeamApp, approval: string): Promise<void> {
  expect((await readApproval(app, approval)).held).not.toBeNull()
  await expect.poll(async () => (await app.clock.advance(5_000), (await readApproval(app, approval)).held)).toBeNull()
}

/** Waits until the service was called in this way, while the time passes. */
export async function waitForCall(
  app: ChatApp,
  matches: (received: ReceivedRequest) => boolean,
): Promise<ReceivedRequest> {
  for (;;) {
    const found = app.provider.received.find(matches)
    if (found) return found
    await app.clock.advance(100)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
