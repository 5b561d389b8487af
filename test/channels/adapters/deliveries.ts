import { createHmac } from 'node:crypto'
import twilio from 'twilio'
import { CHANNEL_SECRET } from './adapter-fixtures.ts'
import { type HookApp, PUBLIC_URL } from './hook-app.ts'

/** How a provider delivers its n-th message of a person. */
export interface Delivery {
  adapter: string
  body: (n: number, text: string) => string
  headers: (app: HookApp, body: string, secret?: string) => Record<string, string>
}

export const slackDelivery: Delivery = {
  adapter: 'slack',
  body: (n, text) =>
    JSON.stringify({
      type: 'event_callback',
      team_id: 'T1',
      event_id: `Ev${n}`,
      event: { type: 'message', channel: 'D1', channel_type: 'im', user: 'U1', text, ts: `${1700 + n}.000100` },
    }),
  headers: ({ clock }, body, secret = CHANNEL_SECRET) => {
    const time = String(Math.floor(clock.now() / 1000))
    const mac = createHmac('sha256', secret).update(`v0:${time}:${body}`).digest('hex')
    return { 'x-slack-request-timestamp': time, 'x-slack-signature': `v0=${mac}` }
  },
}

export const telegramDelivery: Delivery = {
  adapter: 'telegram',
  body: (n, text) =>
    JSON.stringify({
      update_id: n,
      message: { message_id: n, date: 1, chat: { id: 7, type: 'private' }, from: { id: 7, first_name: 'Ada' }, text },
    }),
  headers: (_app, _body, secret = CHANNEL_SECRET) => ({ 'x-telegram-bot-api-secret-token': secret }),
}

export const smsDelivery: Delivery = {
  adapter: 'twilio',
  body: (n, text) => new URLSearchParams({ MessageSid: `SM${n}`, From: '+491', To: '+492', Body: text }).toString(),
  headers: ({ path }, body, secret = CHANNEL_SECRET) => ({
    'content-type': 'application/x-www-form-urlencoded',
    'x-twilio-signature': twilio.getExpectedTwilioSignature(
      secret,
      PUBLIC_URL + path,
      Object.fromEntries(new URLSearchParams(body)),
    ),
  }),
}
