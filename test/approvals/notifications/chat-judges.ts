import { App, HTTPReceiver } from '@slack/bolt'
import { Bot, webhookCallback } from 'grammy'
import { onTestFinished } from 'vitest'
import { signSlack } from './slack-app.ts'
import { TELEGRAM_SECRET_HEADER } from './telegram-app.ts'

/** What a library of the service itself has read from a call. */
interface ChatJudge {
  seen: unknown[]
  /** Delivers a call that is signed with the secret of the judge, and returns the body of the response. */
  deliver: (body: string) => Promise<string>
}

/** An app of Slack's own library. It notes clicks on Approve, and the forms for an edit and a rejection. */
export async function openBoltApp(signingSecret: string): Promise<ChatJudge> {
  const receiver = new HTTPReceiver({ signingSecret, processBeforeResponse: true })
  const app = new App({ receiver, authorize: async () => ({ botToken: 'xoxb-1', botId: 'B1', botUserId: 'UBOT' }) })
  const seen: unknown[] = []
  app.action('approve', async ({ ack, action, body }) => {
    seen.push({ user: body.user.id, value: 'value' in action ? action.value : null })
    await ack()
  })
  app.view('edit', async ({ ack, view, body }) => {
    seen.push({ user: body.user.id, value: view.private_metadata, text: view.state.values['field-0']?.value?.value })
    await ack({ response_action: 'errors', errors: { 'field-0': 'wrong' } })
  })
  app.view('reject', async ({ ack, view, body }) => {
    seen.push({ user: body.user.id, value: view.private_metadata })
    await ack()
  })
  const server = await app.start(0)
  onTestFinished(async () => void (await app.stop()))
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/slack/events`
  return {
    seen,
    async deliver(body) {
      const headers = signSlack(body, Math.floor(Date.now() / 1000), signingSecret)
      return (await fetch(url, { method: 'POST', headers, body })).text()
    },
  }
}

export const BOT_INFO = { id: 1, is_bot: true, first_name: 'Desk', username: 'desk_bot' } as NonNullable<
  NonNullable<ConstructorParameters<typeof Bot>[1]>['botInfo']
>

/** A bot of the library of Telegram bots. It notes clicks on buttons. */
export function openGrammyBot(secretToken: string): ChatJudge {
  const bot = new Bot('1:token', { botInfo: BOT_INFO })
  const seen: unknown[] = []
  bot.on('callback_query:data', ({ chat, callbackQuery: { data } }) => void seen.push({ chat: chat?.id, data }))
  const handle = webhookCallback(bot, 'std/http', { secretToken })
  return {
    seen,
    async deliver(body) {
      const headers = { 'content-type': 'application/json', [TELEGRAM_SECRET_HEADER]: secretToken }
      return (await handle(new Request('https://desk.example/', { method: 'POST', headers, body }))).text()
    },
  }
}
