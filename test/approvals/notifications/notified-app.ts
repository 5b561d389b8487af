import { expect, onTestFinished } from 'vitest'
import { addMember, signUpOwner } from '../../identity/accounts/members.ts'
import {
  type GatedApp,
  gatedWedgeFiles,
  openGatedApp,
  requestedApprovalId,
  startAction,
} from '../decisions/gated-app.ts'
import { callApi } from '../../http.ts'
import type { StoreKind } from '../../stores.ts'

export interface Person {
  id: string
  email: string
  session: string
}

/** A service whose project mails its members through the connection `mail`, which posts each mail to `outside`. */
export interface NotifiedApp extends GatedApp {
  owner: Person
  operator: Person
}

const HOUR_S = 3_600

const APPROVALS = [
  { action: 'archive_order', risk: 'low', required: true, ttl_s: 48 * HOUR_S },
  { action: 'delete_room', risk: 'medium', required: true, ttl_s: 48 * HOUR_S },
  { action: 'pay', ttl_s: 48 * HOUR_S },
  { action: 'transfer', needed: 2, ttl_s: 48 * HOUR_S },
  { action: 'publish', approvers: ['admin'], ttl_s: 48 * HOUR_S },
  { action: 'own_work', exclude_requester: true, ttl_s: 48 * HOUR_S },
  { action: 'hurry', ttl_s: 120 },
]

export async function notifiedApp(
  store: StoreKind,
  env: Record<string, string> = { SVC_PUBLIC_URL: 'https://work.example' },
): Promise<NotifiedApp> {
  const app = await openGatedApp(store, gatedWedgeFiles('gate', { approvals: APPROVALS }), env)
  onTestFinished(async () => {
    await app.stop()
    await app.outside.close()
  })
  const session = await signUpOwner(app)
  const [first] = (await app.call('GET', '/v1/members', undefined, { key: session })).body.data
  const owner = { id: first.id, email: 'owner@example.com', session }
  const operator = { ...(await addMember(app, session, 'operator')), email: 'operator-two@example.com' }
  expect((await app.call('PUT', '/v1/notifiers/mail', { connection: 'mail' })).status).toBe(200)
  return { ...app, owner, operator }
}

export interface SentMail {
  to: string
  subject: string
  text: string
}

/** The mails to an address, in the order in which the mail server got them. */
export const mailsTo = ({ outside }: GatedApp, { email }: Pick<Person, 'email'>): SentMail[] =>
  outside.received
    .filter(({ url }) => url === '/mail')
    .map(({ body }) => JSON.parse(body))
    .filter(({ to }) => to === email)

/** Links the mail address of a member. */
export async function linkMail(app: GatedApp, person: Person): Promise<void> {
  const asked = await app.call('POST', '/v1/me/notifications/links', { kind: 'mail' }, { key: person.session })
  expect(asked).toMatchObject({ status: 200, body: { sent_to: person.email } })
  const token = /#confirm=(\S+)/.exec(mailsTo(app, person).at(-1)?.text ?? '')?.[1]
  const confirmed = await app.call('POST', '/v1/me/notifications/confirm', { token }, { key: person.session })
  expect(confirmed).toMatchObject({ status: 200, body: { kind: 'mail', address: person.email } })
}

/** A task that waits for a decision: about a tool of low or medium risk, or about an action, whose risk is always high. */
export async function askFor(app: NotifiedApp, action: string, payload: object = { text: 'hello' }) {
  const isTool = ['archive_order', 'delete_room'].includes(action)
  const tool = { wedge: 'gate', task_type: 'tool', input: { name: action, args: payload } }
  const task = isTool ? await app.createTask(tool) : await startAction(app, { action, payload })
  return { task: task.id, approval: await requestedApprovalId(app, task.id) }
}

/** Advances the clock second by second until the member has so many mails about requests. */
export async function waitForMails(app: GatedApp, person: Person, count: number): Promise<SentMail[]> {
  const mails = () => requestMails(app, person)
  await expect.poll(async () => (await app.clock.advance(1_000), mails().length)).toBe(count)
  return mails()
}

/** The mails to a member about requests, without those that confirm an address. */
export const requestMails = (app: GatedApp, person: Person): SentMail[] =>
  mailsTo(app, person).filter(({ subject }) => !subject.startsWith('Confirm'))

export const decisionTokens = ({ text }: SentMail): string[] =>
  [...text.matchAll(/https:\/\/\w+\.example\/decide#(dl_\S+)/g)].map(([, token = '']) => token)

/** The token of the newest mail about a request. */
export async function askWithLink(app: NotifiedApp, person: Person, action: string, payload?: object) {
  const before = requestMails(app, person).length
  const asked = await askFor(app, action, payload)
  const mails = await waitForMails(app, person, before + 1)
  const [token = ''] = decisionTokens(mails.at(-1) ?? { to: '', subject: '', text: '' })
  return { ...asked, token }
}

export const readLink = (app: GatedApp, token: string) => app.call('GET', '/v1/decide', undefined, { key: token })

export const decideWith = (app: Pick<NotifiedApp, 'url'>, token: string, body: object) =>
  callApi(app.url, token, 'POST', '/v1/decide', body)

export const readApproval = async (app: NotifiedApp, approval: string) =>
  (await app.call('GET', `/v1/approvals/${approval}`)).body

export const readMessages = (app: NotifiedApp, approval: string) =>
  app.ctx.db
    .selectFrom('notification_messages')
    .selectAll()
    .where('approval_id', '=', approval)
    .orderBy('member_id')
    .execute()
