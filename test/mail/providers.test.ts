import sendgrid from '@sendgrid/mail'
import Mailgun from 'mailgun.js'
import { Attachment, ServerClient } from 'postmark'
import { Resend } from 'resend'
import { describe, expect, test } from 'vitest'
import { sendAction } from '../../src/connections/actions/send-action.ts'
import { writeSecret } from '../../src/connections/setup/write-secret.ts'
import {
  ACTIVE_RUN,
  insertTestConnection,
  openTestContext,
  openUpstreamServer,
  PROJECT,
} from '../connections/test-context.ts'
import { type FakeUpstream, type ReceivedRequest, respondJson } from '../fake-upstream.ts'
import { addFile } from '../work/files/add-file.ts'
import { mailApp, testMailConnection } from './mail-app.ts'

const SECRET = 'key-of-the-provider'
const payload = {
  from: 'Büro <desk@shop.example>',
  to: ['Kim Doe <kim@example.com>', 'lee@example.com'],
  cc: 'cc@example.com',
  bcc: ['bcc@example.com'],
  subject: 'Größe & Preis: 5 €',
  text: 'Hello\nKim',
  html: '<p>Hello</p>',
  reply_to: 'Desk <reply@shop.example>',
  headers: { 'X-Order': 'A-1', References: '<1@shop.example>' },
}

interface Attached {
  name: string
  type: string
  base64: string
}

/** What the provider's own client sends for the same mail. */
const SDK_CALLS: Record<string, (server: FakeUpstream, attached: Attached[]) => Promise<unknown>> = {
  postmark: ({ port }, attached) =>
    new ServerClient(SECRET, { useHttps: false, requestHost: `127.0.0.1:${port}` }).sendEmail({
      From: payload.from,
      To: payload.to.join(', '),
      Cc: payload.cc,
      Bcc: payload.bcc.join(', '),
      Subject: payload.subject,
      TextBody: payload.text,
      HtmlBody: payload.html,
      ReplyTo: payload.reply_to,
      Headers: [
        { Name: 'X-Order', Value: 'A-1' },
        { Name: 'References', Value: '<1@shop.example>' },
      ],
      MessageStream: 'outbound',
      Attachments: attached.map(({ name, type, base64 }) => new Attachment(name, base64, type)),
    }),
  mailgun: ({ url }, attached) =>
    new Mailgun(FormData).client({ username: 'api', key: SECRET, url }).messages.create('mg.shop.example', {
      from: payload.from,
      to: payload.to,
      cc: payload.cc,
      bcc: payload.bcc,
      subject: payload.subject,
      text: payload.text,
      html: payload.html,
      'h:Reply-To': payload.reply_to,
      'h:X-Order': 'A-1',
      'h:References': '<1@shop.example>',
      ...(attached.length > 0 && {
        attachment: attached.map(({ name, type, base64 }) => ({
          filename: name,
          data: new Blob([Buffer.from(base64, 'base64')], { type }),
        })),
      }),
    }),
  sendgrid({ url }, attached) {
    sendgrid.setApiKey(SECRET)
    Reflect.get(sendgrid, 'client').setDefaultRequest('baseUrl', url)
    return sendgrid.send({
      from: payload.from,
      to: payload.to,
      cc: payload.cc,
      bcc: payload.bcc,
      subject: payload.subject,
      text: payload.text,
      html: payload.html,
      replyTo: payload.reply_to,
      headers: payload.headers,
      attachments: attached.map(({ name, type, base64 }) => ({
        filename: name,
        type,
        content: base64,
        disposition: 'attachment',
      })),
    })
  },
  resend: ({ url }, attached) =>
    new Resend(SECRET, { baseUrl: url }).emails.send(
      {
        from: payload.from,
        to: payload.to,
        cc: [payload.cc],
        bcc: payload.bcc,
        subject: payload.subject,
        text: payload.text,
        html: payload.html,
        replyTo: payload.reply_to,
        headers: payload.headers,
        attachments: attached.map(({ name, type, base64 }) => ({ filename: name, contentType: type, content: base64 })),
      },
      { idempotencyKey: 'apr_1' },
    ),
}

/** The parts of a request that decide what it does. */
async function essence({ method, url, headers, body }: ReceivedRequest) {
  const type = headers['content-type'] ?? ''
  const credentials = ['authorization', 'x-postmark-server-token', 'idempotency-key'].map((name) => headers[name])
  const fields = type.startsWith('application/json')
    ? withoutDefaults(JSON.parse(body))
    : await toFields(await new Response(body, { headers: { 'content-type': type } }).formData())
  return { method, url, credentials, fields }
}

/** The clients write empty defaults into their requests. */
const withoutDefaults = (fields: Record<string, unknown>) =>
  JSON.parse(
    JSON.stringify(fields, (_, value: unknown) =>
      value === null || (Array.isArray(value) && value.length === 0)
        ? undefined
        : typeof value === 'object' && value !== null && Object.keys(value).length === 0
          ? undefined
          : value,
    ),
  )

/** Multipart bodies have line breaks as CRLF. */
const toFields = async (form: FormData) =>
  (await Promise.all([...form.entries()].map(async ([name, value]) => [name, await toFieldText(value)])))
    .map(([name = '', text = '']) => [name, text.replaceAll('\r\n', '\n')])
    .toSorted(([a = ''], [b = '']) => (a < b ? -1 : a > b ? 1 : 0))

const toFieldText = async (value: string | File): Promise<string> =>
  typeof value === 'string' ? value : `${value.name} (${value.type}): ${await value.text()}`

describe("the request of a mail equals that of the provider's own client", () => {
  test.each(
    Object.entries(SDK_CALLS).flatMap(([provider, callSdk]) =>
      [0, 2].map((count) => [provider, count, callSdk] as const),
    ),
  )('%s with %i attachments', async (provider, count, callSdk) => {
    const { ctx, scope } = await openTestContext()
    const server = await openUpstreamServer((_, response) => respondJson(response, 200, { id: 'm1' }))
    const config = { provider, base_url: server.url, from: payload.from, domain: 'mg.shop.example' }
    const more = provider === 'postmark' ? { message_stream: 'outbound' } : {}
    const mail = await insertTestConnection(ctx, { kind: 'email', name: 'mail', config: { ...config, ...more } })
    await writeSecret(ctx, scope, mail, SECRET)
    const files = await Promise.all(
      ['Größe.txt', 'b.csv'].slice(0, count).map((name) => addFile({ ctx }, name, `${name} ü`, { projectId: PROJECT })),
    )
    const attachments = files.map(({ id, name, sha256 }) => ({ $file: id, name, sha256 }))
    const sent = count === 0 ? payload : { ...payload, attachments }
    const action = { capability: 'mail:send', payload: sent, idempotencyKey: 'apr_1', runSignal: ACTIVE_RUN }
    expect(await sendAction(ctx, mail, action)).toMatchObject({ outcome: 'ok', status: 200 })
    const attached = files.map(({ name, content_type: type }) => ({
      name,
      type,
      base64: Buffer.from(`${name} ü`).toString('base64'),
    }))
    await callSdk(server, attached)
    const [ours, theirs] = await Promise.all(server.received.map(essence))
    expect(ours).toEqual(theirs)
  })
})

test.each([
  ['postmark', '/server'],
  ['mailgun', '/v4/domains/mg.shop.example'],
  ['sendgrid', '/v3/scopes'],
  ['resend', '/domains'],
])('the test of a connection to %s is an authorised GET of %s', async (provider, path) => {
  const server = await openUpstreamServer((_, response) => respondJson(response, 401, {}))
  const config = { provider, base_url: server.url, from: payload.from, domain: 'mg.shop.example' }
  const app = await mailApp('sqlite', config, { secret: SECRET })
  expect(await testMailConnection(app)).toMatchObject({
    ok: false,
    status: 401,
    error: 'upstream answered 401: it does not accept the secret',
  })
  const [request] = server.received
  expect(request).toMatchObject({ method: 'GET', url: path })
  expect(JSON.stringify(request?.headers)).toMatch(/key-of-the-provider|YXBpOmtleS1vZi10aGUtcHJvdmlkZXI/)
})
