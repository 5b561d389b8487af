import { onTestFinished } from 'vitest'
import { type TestApp, testApp } from '../../app.ts'
import { createAndGetId } from '../../customers/channels/channel-app.ts'
import { type FakeUpstream, openFakeUpstream, respondJson } from '../../fake-upstream.ts'
import type { ApiResponse } from '../../http.ts'
import type { StoreKind } from '../../stores.ts'

const CHANNEL_SECRET = 'the-secret-of-the-channel'

/** The task type says what the run does with its reply. */
export const CONVERSATION_WEDGE = {
  'desk/wedge.json': {
    wedge: 'desk',
    task_types: { answer: {}, auto: {}, tool: {}, fail: { harness: { needs_connections: true } } },
    connections: ['absent', 'bot'],
  },
  'desk/rehearsals/answer.json': [
    { output: { reply: 'You wrote: {{input.body}}' } },
    { output: { reply: 'Dear client, you wrote: {{input.body}}' } },
  ],
  'desk/rehearsals/tool.json': [
    { call: { tool: 'bot__reply', input: { text: 'Sent by the tool' } } },
    { output: { reply: 'Sent by the tool' } },
  ],
  'open/wedge.json': {
    wedge: 'open',
    task_types: { answer: {}, slow: {}, ask: {} },
    connections: ['bot'],
    policy: { auto_approve: [{ action: 'bot:reply' }] },
  },
  // Reads first, so that a test can do something while the run is active.
  'open/rehearsals/slow.json': [
    { call: { tool: 'read', input: { capability: 'bot', path: '/slow' } } },
    { output: { reply: 'You wrote: {{input.body}}' } },
  ],
  'open/rehearsals/ask.json': [
    {
      call: { tool: 'ask_person', input: { question: 'Which size?', options: ['Small', 'Large'], to: 'client' } },
    },
    { output: { reply: 'You chose {{last.answer}}.' } },
  ],
  'open/rehearsals/answer.json': [{ output: { reply: 'You wrote: {{input.body}}' } }],
}

export interface ConversationApp extends TestApp {
  /** The bot API that replies go to. */
  provider: FakeUpstream
  channel: string
  connection: string
  /** Delivers a message of a chat, as the provider does. */
  deliver: (chat: number, text: string, id?: number) => Promise<ApiResponse>
  /** The texts that reached the client. */
  sentTexts: () => string[]
  thread: (id: string) => Promise<ApiResponse['body']>
  /** Changes a thread; throws if that fails. */
  change: (id: string, change: object) => Promise<ApiResponse['body']>
  /** The id of the first approval that waits in the thread. */
  pendingApproval: (threadId: string) => Promise<string>
}

export interface ConversationOptions {
  wedge?: string
  taskType?: string
  channel?: object
  env?: Record<string, string>
}

/** A service with a Telegram channel whose provider is a recorder. */
export async function openConversationApp(
  store: StoreKind,
  { wedge = 'desk', taskType = 'answer', channel: more = {}, env = {} }: ConversationOptions = {},
): Promise<ConversationApp> {
  const provider = await openFakeUpstream()
  onTestFinished(() => provider.close())
  let sent = 0
  provider.respond = (_, response) => respondJson(response, 200, { ok: true, result: { message_id: 1000 + ++sent } })
  const settings = { SVC_PUBLIC_URL: 'https://desk.example', SVC_EGRESS_ALLOW: '127.0.0.1', ...env }
  const app = await testApp({ store, wedges: CONVERSATION_WEDGE, env: settings })
  return { ...app, provider, ...(await addConversationChannel(app, provider, { wedge, task_type: taskType, ...more })) }
}

type Caller = Pick<TestApp, 'call'>

export async function addConversationChannel(app: Caller, provider: FakeUpstream, binding: object) {
  const config = { base_url: provider.url }
  const connection = await createAndGetId(app, '/v1/connections', { kind: 'custom', name: 'bot', config })
  await app.call('POST', `/v1/connections/${connection}/secret`, { value: '1:bot-token' })
  const address = { connection_id: connection, address: '@desk', adapter: 'telegram' }
  const channel = await createAndGetId(app, '/v1/channels', { ...address, ...binding })
  await app.call('POST', `/v1/channels/${channel}/secret`, { value: CHANNEL_SECRET })
  return { channel, connection, ...conversationCalls(app, provider, channel) }
}

/** The calls of a conversation, on any service that has the channel. */
export function conversationCalls(app: Caller, provider: FakeUpstream, channel: string) {
  let next = 0
  const thread = async (id: string) => (await app.call('GET', `/v1/threads/${id}`)).body
  return {
    thread,
    deliver: (chat: number, text: string, id = ++next) => {
      const message = { message_id: id, chat: { id: chat }, from: { id: chat, first_name: 'Ada' }, text }
      return app.call('POST', `/v1/hooks/${channel}`, undefined, {
        key: null,
        headers: { 'x-telegram-bot-api-secret-token': CHANNEL_SECRET },
        raw: JSON.stringify({ update_id: id, message }),
      })
    },
    sentTexts: () =>
      provider.received.flatMap(({ method, body }) => (method === 'POST' ? [String(JSON.parse(body).text)] : [])),
    change: async (id: string, change: object) => {
      const { status, body } = await app.call('PUT', `/v1/threads/${id}`, change)
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
      return body
    },
    pendingApproval: async (threadId: string) => {
      for (;;) {
        const [first] = (await thread(threadId)).pending
        if (first) return first as string
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
  }
}
