import { createHmac } from 'node:crypto'
import {
  addOperator,
  ask,
  BOT_TOKEN,
  type ChatApp,
  type ChatMember,
  HOOK_SECRET,
  connectChat,
  openTeamApp,
  startLink,
  type TeamApp,
  waitForCall,
} from './chat-app.ts'
import { type ReceivedRequest, respondJson } from '../../fake-upstream.ts'
import type { StoreKind } from '../../stores.ts'

export const openSlackApp = async (store: StoreKind): Promise<ChatApp> => connectSlack(await openTeamApp(store))

/** The workspace: every method succeeds, and a message to a person is in the direct conversation with the app. */
export function connectSlack(team: TeamApp): Promise<ChatApp> {
  let ts = 0
  return connectChat(team, 'slack', ({ body, headers, url }, response) => {
    if (!isEphemeral({ url }) && headers.authorization !== `Bearer ${BOT_TOKEN}`)
      return respondJson(response, 200, { ok: false, error: 'not_authed' })
    const channel = new URLSearchParams(body).get('channel')?.replace('U', 'D')
    respondJson(response, 200, { ok: true, channel, ts: `1700000000.${String(++ts).padStart(6, '0')}` })
  })
}

export const signSlack = (body: string, seconds: number, secret = HOOK_SECRET) => ({
  'content-type': body.startsWith('{') ? 'application/json' : 'application/x-www-form-urlencoded',
  'x-slack-request-timestamp': String(seconds),
  'x-slack-signature': `v0=${createHmac('sha256', secret).update(`v0:${seconds}:${body}`).digest('hex')}`,
})

/** A call of Slack, signed now. */
export function deliverSlack(app: ChatApp, body: string, url?: string) {
  return app.deliver(body, signSlack(body, Math.floor(app.clock.now() / 1000)), url)
}

const formOf = (payload: object) => new URLSearchParams({ payload: JSON.stringify(payload) }).toString()

export const directMessage = (user: string, text: string): string =>
  JSON.stringify({
    type: 'event_callback',
    team_id: 'T1',
    api_app_id: 'A1',
    event_id: 'Ev1',
    event: { type: 'message', channel: user.replace('U', 'D'), channel_type: 'im', user, text, ts: '1.1' },
  })

/** An operator whose Slack account is linked by a code in a direct message. */
export async function linkSlackMember(app: ChatApp, user: string): Promise<ChatMember> {
  const member = await addOperator(app, `${user.toLowerCase()}@example.com`)
  const { code } = await startLink(app, member.session, 'slack')
  await deliverSlack(app, directMessage(user, code))
  return { ...member, address: user }
}

/** Asks for a decision and returns the message that the member gets. */
export async function askInSlack(app: ChatApp, member: ChatMember, action: string, payload: object) {
  const asked = await ask(app, action, payload)
  return { ...asked, message: await slackMessage(app, member, asked.approval) }
}

/** The message about an approval to a member. */
export async function slackMessage(app: ChatApp, { address }: ChatMember, approval: string): Promise<SlackMessage> {
  const isAbout = ({ url, body }: ReceivedRequest) =>
    url === '/chat.postMessage' && new URLSearchParams(body).get('channel') === address && body.includes(approval)
  return readSlackMessage(await waitForCall(app, isAbout))
}

export interface SlackMessage {
  channel: string
  text: string
  ts: string | null
  blocks: SlackBlock[]
}

export interface SlackBlock {
  type: string
  block_id?: string
  elements?: { action_id: string; value: string; type: string; text?: unknown }[]
}

export function readSlackMessage({ body }: ReceivedRequest): SlackMessage {
  const fields = new URLSearchParams(body)
  const [channel = '', text = ''] = ['channel', 'text'].map((name) => fields.get(name) ?? '')
  return { channel, text, ts: fields.get('ts'), blocks: JSON.parse(fields.get('blocks') ?? '[]') }
}

/** What Slack sends when a person clicks on a button of a message. */
export function clickOf(
  app: Pick<ChatApp, 'provider'>,
  user: string,
  { channel, blocks }: SlackMessage,
  button: string,
): string {
  const actions = blocks.flatMap(({ elements = [] }) => elements).filter(({ action_id }) => action_id === button)
  if (!actions[0]) throw new Error(`the message has no button '${button}'`)
  return formOf({
    type: 'block_actions',
    team: { id: 'T1', domain: 'desk' },
    user: { id: user, username: 'ada', team_id: 'T1' },
    api_app_id: 'A1',
    container: { type: 'message', message_ts: '1.1', channel_id: channel },
    trigger_id: '12.34.trigger',
    channel: { id: channel, name: 'directmessage' },
    message: { type: 'message', ts: '1.1', text: 'x', blocks },
    response_url: `${app.provider.url}/respond/${user}`,
    actions: [{ block_id: 'b1', action_ts: '1.2', ...actions[0] }],
  })
}

export interface SlackView {
  callback_id: string
  private_metadata: string
  blocks: { type: string; block_id?: string; element?: { type: string; initial_value?: string } }[]
}

/** The form that the service opened first: for this approval, or for any. */
export async function openedForm(app: ChatApp, approval = ''): Promise<SlackView> {
  const { body } = await waitForCall(app, (call) => call.url === '/views.open' && call.body.includes(approval))
  return JSON.parse(new URLSearchParams(body).get('view') ?? '')
}

/** What Slack sends when a person submits a form, with these values in place of the initial ones. */
export function submitOf(user: string, view: SlackView, values: Record<string, string | null>): string {
  const inputs = view.blocks.flatMap(({ block_id, element }) => {
    if (!block_id || !element) return []
    const value = block_id in values ? values[block_id] : (element.initial_value ?? null)
    const entry = element.type === 'static_select' ? { selected_option: value === null ? null : { value } } : { value }
    return [[block_id, { value: { type: element.type, ...entry } }]]
  })
  return formOf({
    type: 'view_submission',
    team: { id: 'T1', domain: 'desk' },
    user: { id: user, username: 'ada', team_id: 'T1' },
    api_app_id: 'A1',
    view: { ...view, id: 'V1', state: { values: Object.fromEntries(inputs) } },
  })
}

const isEphemeral = ({ url }: Pick<ReceivedRequest, 'url'>) => url.startsWith('/respond/')

/** The texts that only the person who clicked sees: those of one person, or of all. */
export const ephemeralTexts = (app: ChatApp, user?: string): string[] =>
  app.provider.received
    .filter((call) => isEphemeral(call) && (user === undefined || call.url === `/respond/${user}`))
    .map(({ body }) => JSON.parse(body).text)
