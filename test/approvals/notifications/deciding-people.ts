import { expect } from 'vitest'
import { callApi } from '../../http.ts'
import type { StoreKind } from '../../stores.ts'
import { addOperator, type ChatApp, openTeamApp, readApproval, type TeamApp } from './chat-app.ts'
import { decideWith, decisionTokens, linkMail, readLink, requestMails } from './notified-app.ts'
import {
  clickOf,
  connectSlack,
  deliverSlack,
  ephemeralTexts,
  linkSlackMember,
  openedForm,
  readSlackMessage,
  slackMessage,
  submitOf,
} from './slack-app.ts'
import {
  callsOf,
  clickUpdate,
  connectTelegram,
  deliverTelegram,
  linkTelegramMember,
  messageAbout,
} from './telegram-app.ts'

export type Decision = 'approve' | 'reject'

/** A person who decides in one way. */
export interface DecidingPerson {
  via: 'slack' | 'telegram' | 'mail' | 'console' | 'api'
  /** As `decided_by` shows it. */
  name: string
  /** Null for a key, which is no member. */
  memberId: string | null
  /** Gets everything ready for a decision about this approval: the message, a form, or a link. */
  prepare: (approval: string, decision: Decision) => Promise<ReadyDecision>
}

/** A decision that is sent to one replica. It resolves with the answer that the person gets. */
export type ReadyDecision = (url: string) => Promise<string>

/** A team that gets messages through Slack, Telegram and mail, and decides there, in the console and with API keys. */
export interface PeopleApp extends TeamApp {
  slack: ChatApp
  telegram: ChatApp
  people: DecidingPerson[]
  /** The bodies that Slack and Telegram sent, for the judges. */
  clicks: { slack: string[]; telegram: string[] }
}

/** So many people decide in each of the five ways. */
export async function openPeopleApp(store: StoreKind, each: number): Promise<PeopleApp> {
  const team = await openTeamApp(store)
  expect((await team.call('PUT', '/v1/notifiers/mail', { connection: 'mail' })).status).toBe(200)
  const app: PeopleApp = {
    ...team,
    slack: await connectSlack(team),
    telegram: await connectTelegram(team),
    people: [],
    clicks: { slack: [], telegram: [] },
  }
  for (let n = 1; n <= each; n++) {
    app.people.push(await slackPerson(app, `U${n}`), await telegramPerson(app, n))
    app.people.push(await mailPerson(app, `mail-${n}@example.com`), await consolePerson(app, `U${100 + n}`))
    app.people.push(await apiPerson(app, `server ${n}`))
  }
  return app
}

/** The answer to a decision that succeeded without a text: the message itself shows it. */
const DONE = 'done'

async function slackPerson(app: PeopleApp, user: string): Promise<DecidingPerson> {
  const { slack } = app
  const member = await linkSlackMember(slack, user)
  const prepare: DecidingPerson['prepare'] = async (approval, decision) => {
    const message = await slackMessage(slack, member, approval)
    if (decision === 'reject') await deliverSlack(slack, clickOf(slack, user, message, 'reject'))
    const body =
      decision === 'reject'
        ? submitOf(user, await openedForm(slack, approval), {})
        : clickOf(slack, user, message, 'approve')
    app.clicks.slack.push(body)
    return async (url) => {
      const before = ephemeralTexts(slack, user).length
      const answer = await deliverSlack(slack, body, url)
      expect(answer.status).toBe(200)
      const [inForm] = Object.values<string>(answer.body.errors ?? {})
      return inForm ?? ephemeralTexts(slack, user)[before] ?? DONE
    }
  }
  return { via: 'slack', name: `${user.toLowerCase()}@example.com`, memberId: member.id, prepare }
}

async function telegramPerson(app: PeopleApp, chat: number): Promise<DecidingPerson> {
  const { telegram } = app
  const member = await linkTelegramMember(telegram, chat)
  const alerts = () =>
    callsOf(telegram, 'answerCallbackQuery').filter((one) => one.callback_query_id === `query-${chat}`)
  const prepare: DecidingPerson['prepare'] = async (approval, decision) => {
    const text = decision === 'approve' ? 'Approve' : 'Reject'
    await deliverTelegram(telegram, clickUpdate(chat, await messageAbout(telegram, member, approval), text))
    const prompt = callsOf(telegram, 'sendMessage').findLast(({ chat_id }) => chat_id === chat)
    if (!prompt) throw new Error(`chat ${chat} has no prompt`)
    const click = clickUpdate(chat, prompt, text)
    app.clicks.telegram.push(JSON.stringify(click))
    return async (url) => {
      const before = alerts().length
      expect((await deliverTelegram(telegram, click, undefined, url)).status).toBe(200)
      return String(alerts()[before]?.text)
    }
  }
  return { via: 'telegram', name: `person-${chat}@example.com`, memberId: member.id, prepare }
}

async function mailPerson(app: PeopleApp, email: string): Promise<DecidingPerson> {
  const person = { ...(await addOperator(app, email)), email }
  await linkMail(app, person)
  const prepare: DecidingPerson['prepare'] = async (_approval, decision) => {
    const mails = requestMails(app, person)
    const [token = ''] = decisionTokens(mails.at(-1) ?? { to: '', subject: '', text: '' })
    expect((await readLink(app, token)).status).toBe(200)
    return async (url) => toldBy(await decideWith({ url }, token, { decision }))
  }
  return { via: 'mail', name: email, memberId: person.id, prepare }
}

/** Has a message in Slack as well, and decides in the console. */
async function consolePerson(app: PeopleApp, user: string): Promise<DecidingPerson> {
  const member = await linkSlackMember(app.slack, user)
  return {
    via: 'console',
    name: `${user.toLowerCase()}@example.com`,
    memberId: member.id,
    prepare: async (approval, decision) => (url) => decideByApi(url, member.session, approval, decision),
  }
}

async function apiPerson(app: PeopleApp, name: string): Promise<DecidingPerson> {
  const { status, body } = await app.call('POST', '/v1/keys', { name, role: 'operator' })
  expect(status).toBe(201)
  const prepare: DecidingPerson['prepare'] = async (approval, decision) => (url) =>
    decideByApi(url, body.key, approval, decision)
  return { via: 'api', name, memberId: null, prepare }
}

const decideByApi = async (url: string, key: string, approval: string, decision: Decision) =>
  toldBy(await callApi(url, key, 'POST', `/v1/approvals/${approval}/${decision}`, {}))

interface Answer {
  status: number
  body: { error?: string; decision?: string; votes?: object[]; needed?: number }
}

function toldBy({ status, body }: Answer): string {
  if (status !== 200) return `${status} ${body.error}`
  return body.decision === 'pending' ? `Your approval counts: ${body.votes?.length} of ${body.needed}.` : DONE
}

/** Waits until every member with a link has the message about an approval. */
export async function waitForMessages(app: PeopleApp, approval: string): Promise<void> {
  const sent = async () => (await listMessages(app, approval)).filter(({ state }) => state === 'sent')
  const linked = app.people.filter(({ via }) => via !== 'api').length
  await expect.poll(async () => (await app.clock.advance(1_000), (await sent()).length)).toBe(linked)
}

export const listMessages = (app: PeopleApp, approval: string) =>
  app.ctx.db.selectFrom('notification_messages').selectAll().where('approval_id', '=', approval).execute()

/** All decisions reach the two replicas at the same time. Returns the answer to each person. */
export async function decideAtOnce(
  people: readonly DecidingPerson[],
  decisions: readonly ReadyDecision[],
  urls: readonly string[],
) {
  const answers = await Promise.all(decisions.map((decide, n) => decide(urls[n % urls.length] ?? '')))
  return people.map(({ name, via }, n) => ({ name, via, text: answers[n] ?? '' }))
}

/** Whether the answer says that the person's own decision is the outcome. */
export const hasWon = ({ text }: { text: string }): boolean =>
  [DONE, 'Approved', 'Rejected', 'Sending in 5 s'].includes(text)

/** Checks that every message that was posted shows the outcome and no buttons, and that the links of mails say it. */
export async function expectMessagesShow(app: PeopleApp, approval: string, outcome: string): Promise<void> {
  const { status } = await readApproval(app, approval)
  const shown = async () => new Set((await listMessages(app, approval)).map((message) => message.shown))
  await expect.poll(async () => (await app.clock.advance(1_000), await shown())).toEqual(new Set([status]))
  for (const message of await listMessages(app, approval)) {
    const last = lastRewrite(app, message)
    if (message.kind === 'mail') continue
    expect([message.address, last]).toEqual([message.address, expect.stringContaining(outcome)])
    expect(last).not.toMatch(/"actions"|callback_data/)
  }
}

/** The newest content of a message in Slack or Telegram. */
function lastRewrite(app: PeopleApp, { kind, external_id }: { kind: string; external_id: string | null }): string {
  const [chat, message] = (external_id ?? '').split(':')
  if (kind === 'slack') {
    const updates = app.slack.provider.received.filter(({ url }) => url === '/chat.update').map(readSlackMessage)
    return JSON.stringify(updates.findLast(({ channel, ts }) => channel === chat && ts === message) ?? null)
  }
  const rewrites = callsOf(app.telegram, 'editMessageText')
  return JSON.stringify(
    rewrites.findLast((one) => one.chat_id === Number(chat) && one.message_id === Number(message)) ?? null,
  )
}
