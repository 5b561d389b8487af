import { createHmac } from 'node:crypto'
import { Webhook } from 'svix'
import twilio from 'twilio'
import { respondJson } from '../../../fake-upstream.ts'
import { CHANNEL_SECRET } from './adapter-fixtures.ts'
import { type HookApp, type HookAppOptions, PUBLIC_URL } from './hook-app.ts'

/** How a provider delivers its n-th message of a person. */
export interface Delivery {
  adapter: string
  /** What the channel of this adapter needs. */
  app?: Partial<HookAppOptions>
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
  app: { connection: { account_sid: 'AC1' } },
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

const mailOf = (n: number, text: string) => ({
  text,
  subject: n === 1 ? 'Order' : 'Re: Order',
  headers: { 'message-id': `<m${n}@example.com>`, ...(n > 1 && { 'in-reply-to': `<m${n - 1}@example.com>` }) },
})

const mailConnection = (provider: string) => ({ kind: 'email', connection: { provider, from: 'desk@shop.example' } })

export const postmarkDelivery: Delivery = {
  adapter: 'postmark',
  app: mailConnection('postmark'),
  body: (n, text) => {
    const mail = mailOf(n, text)
    return JSON.stringify({
      FromFull: { Email: 'kim@example.com', Name: 'Kim' },
      OriginalRecipient: 'desk',
      Subject: mail.subject,
      TextBody: mail.text,
      Headers: Object.entries(mail.headers).map(([Name, Value]) => ({ Name, Value })),
    })
  },
  headers: (_app, _body, secret = CHANNEL_SECRET) => ({
    authorization: `Basic ${Buffer.from(`any:${secret}`).toString('base64')}`,
  }),
}

/** The webhook names the mail, and the API has its content. The id of a mail has both its number and its text here. */
export const resendDelivery: Delivery = {
  adapter: 'resend',
  app: {
    ...mailConnection('resend'),
    respond({ url }, response) {
      const [, id = ''] = /^\/emails\/receiving\/([^?]+)\?/.exec(url) ?? []
      if (id === '') return respondJson(response, 200, { id: 'queued' })
      const [n = '', text = ''] = id.split('-')
      const mail = mailOf(Number(n), Buffer.from(text, 'hex').toString())
      const headers = { ...mail.headers, 'message-id': undefined }
      const message_id = mail.headers['message-id']
      respondJson(response, 200, { ...mail, headers, message_id, from: 'Kim <kim@example.com>', to: ['desk'] })
    },
  },
  body: (n, text) =>
    JSON.stringify({ type: 'email.received', data: { email_id: `${n}-${Buffer.from(text).toString('hex')}` } }),
  headers: ({ clock }, body, secret = CHANNEL_SECRET) => {
    const time = new Date(clock.now())
    return {
      'svix-id': 'msg_1',
      'svix-timestamp': String(Math.floor(time.getTime() / 1000)),
      'svix-signature': new Webhook(Buffer.from(secret, 'base64'), { format: 'raw' }).sign('msg_1', time, body),
    }
  },
}
