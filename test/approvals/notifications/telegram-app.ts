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

export const openTelegramApp = async (store: StoreKind): Promise<ChatApp> => connectTelegram(await openTeamApp(store))

/** Telegram: every method of the bot succeeds. */
export function connectTelegram(team: TeamApp): Promise<ChatApp> {
  let message_id = 100
  return connectChat(team, 'telegram', ({ url, body }, response) => {
    if (!url.startsWith(`/bot${BOT_TOKEN}/`))
      return respondJson(response, 401, { ok: false, error_code: 401, description: 'Unauthorized' })
    if (url.endsWith('/getMe')) return respondJson(response, 200, { ok: true, result: { id: 1, username: 'desk_bot' } })
    const { chat_id } = JSON.parse(body)
    const result = chat_id === undefined ? true : { message_id: ++message_id, chat: { id: chat_id, type: 'private' } }
    respondJson(response, 200, { ok: true, result })
  })
}

export const TELEGRAM_SECRET_HEADER = 'x-telegram-bot-api-secret-token'

export const deliverTelegram = (app: ChatApp, update: object, secret = HOOK_SECRET, url?: string) =>
  app.deliver(JSON.stringify(update), { 'content-type': 'application/json', [TELEGRAM_SECRET_HEADER]: secret }, url)

const BOT = { id: 1, is_bot: true, first_name: 'Desk', username: 'desk_bot' }

const person = (id: number) => ({ id, is_bot: false, first_name: 'Ada' })
const privateChat = (id: number) => ({ id, type: 'private', first_name: 'Ada' })

export const textUpdate = (from: number, text: string, more: object = {}) => ({
  update_id: 7,
  message: { message_id: 50, date: 1_700_000_000, chat: privateChat(from), from: person(from), text, ...more },
})

/** An operator whose chat with the bot is linked by the code in its address. */
export async function linkTelegramMember(app: ChatApp, chat: number): Promise<ChatMember> {
  const member = await addOperator(app, `person-${chat}@example.com`)
  const { url = '' } = await startLink(app, member.session, 'telegram')
  await deliverTelegram(app, textUpdate(chat, `/start ${new URL(url).searchParams.get('start')}`))
  return { ...member, address: String(chat) }
}

export interface TelegramMessage {
  chat_id: number
  message_id?: number
  text: string
  reply_markup?: { inline_keyboard?: { text: string; callback_data: string }[][]; force_reply?: boolean }
}

/** The calls of a method so far. */
export const callsOf = (app: ChatApp, method: string): (TelegramMessage & Record<string, unknown>)[] =>
  app.provider.received.filter(({ url }) => url.endsWith(`/${method}`)).map(({ body }) => JSON.parse(body))

/** Asks for a decision and returns the message that the member gets. */
export async function askInTelegram(app: ChatApp, member: ChatMember, action: string, payload: object) {
  const asked = await ask(app, action, payload)
  return { ...asked, message: await messageAbout(app, member, asked.approval) }
}

/** The message about an approval to a member. */
export async function messageAbout(app: ChatApp, { address }: ChatMember, approval: string): Promise<TelegramMessage> {
  const isAbout = ({ url, body }: ReceivedRequest) =>
    url.endsWith('/sendMessage') && body.includes(approval) && body.includes(`"chat_id":${address},`)
  return JSON.parse((await waitForCall(app, isAbout)).body)
}

/** What Telegram sends when a person clicks on a button of a message. */
export function clickUpdate(from: number, message: TelegramMessage, text: string) {
  const buttons = (message.reply_markup?.inline_keyboard ?? []).flat()
  const button = buttons.find((one) => one.text === text)
  if (!button) throw new Error(`the message has no button '${text}' but ${buttons.map((one) => one.text).join(', ')}`)
  return {
    update_id: 8,
    callback_query: {
      id: `query-${from}`,
      from: person(from),
      message: { message_id: 101, date: 1, chat: privateChat(from), from: BOT, text: 'x' },
      chat_instance: '1',
      data: button.callback_data,
    },
  }
}

/** What Telegram sends when a person replies to a prompt. The prompt comes without its HTML. */
export const replyUpdate = (from: number, prompt: TelegramMessage, text: string) =>
  textUpdate(from, text, {
    reply_to_message: {
      message_id: 102,
      date: 1,
      chat: privateChat(from),
      from: BOT,
      text: prompt.text.replaceAll(/<[^>]*>/g, ''),
    },
  })

/** The last message that the bot sent. */
export function lastMessage(app: ChatApp): TelegramMessage {
  const message = callsOf(app, 'sendMessage').at(-1)
  if (!message) throw new Error('the bot has sent nothing')
  return message
}

/** The short texts that people saw after their clicks. */
export const alertTexts = (app: ChatApp): unknown[] => callsOf(app, 'answerCallbackQuery').map(({ text }) => text)
