import { createTransport, type SendMailOptions } from 'nodemailer'
import { onTestFinished } from 'vitest'
import type { TestApp } from '../app.ts'
import type { StoreKind } from '../stores.ts'
import { mailApp } from './mail-app.ts'
import { mailboxConfig, type MailServer, startMailServer } from './mail-server.ts'

/** A service that reads the mailbox agent@test.example and answers through the same mail server. */
export interface MailboxApp extends TestApp {
  channel: string
  server: MailServer
}

/** The tasks of the wedge answer with what the client wrote. */
export const REPLY_WEDGE = {
  'reply/wedge.json': {
    wedge: 'reply',
    connections: ['mail'],
    task_types: { triage: {} },
    policy: { auto_approve: [{ action: 'mail:reply' }] },
  },
  'reply/rehearsals/triage.json': [{ output: { reply: 'You wrote: {{input.body}}' } }],
}

export async function startOwnMailServer(): Promise<MailServer> {
  const server = await startMailServer()
  onTestFinished(() => server.stop())
  return server
}

/** The config of a connection that sends through the server. */
export const submissionConfig = (server: MailServer) => ({
  provider: 'smtp',
  host: '127.0.0.1',
  port: server.submissionPort,
  username: server.username,
  from: 'Desk <agent@test.example>',
  ca: server.ca,
})

export async function mailboxApp(store: StoreKind, more: object = {}): Promise<MailboxApp> {
  const server = await startOwnMailServer()
  const env = { SVC_EGRESS_ALLOW: '127.0.0.1,::1,localhost' }
  const app = await mailApp(store, submissionConfig(server), { secret: server.password, env, wedges: REPLY_WEDGE })
  const channel = await createMailChannel(app, app.connectionId, { config: mailboxConfig(server), ...more })
  await app.call('POST', `/v1/channels/${channel}/secret`, { value: server.password })
  return { ...app, channel, server }
}

export async function createMailChannel(app: Pick<TestApp, 'call'>, connection_id: string, more: object) {
  const binding = { connection_id, address: 'agent@test.example', wedge: 'reply', task_type: 'triage', adapter: 'mail' }
  const response = await app.call('POST', '/v1/channels', { ...binding, ...more })
  if (response.status !== 201) throw new Error(JSON.stringify(response.body))
  const { id }: { id: string } = response.body
  return id
}

/** Delivers a mail to the server as another mail server would. */
export async function deliverMail({ smtpPort }: MailServer, mail: SendMailOptions): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true })
  await transport.sendMail({ from: 'Kim <kim@test.example>', to: 'agent@test.example', ...mail })
  transport.close()
}

interface ThreadInList {
  id: string
  subject: string | null
  message_count: number
}

/** Waits until a condition holds. Time passes meanwhile, so that the mailbox is read. */
export async function passTimeUntil(app: Pick<TestApp, 'clock'>, isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) {
    await app.clock.advance(1_000)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The threads of the service once a condition holds for them. */
export async function threadsUntil(
  app: TestApp,
  isDone: (threads: ThreadInList[]) => boolean,
): Promise<ThreadInList[]> {
  let threads: ThreadInList[] = []
  await passTimeUntil(app, async () => {
    threads = (await app.call('GET', '/v1/threads')).body.data
    return isDone(threads)
  })
  return threads
}

export const readThread = async (app: TestApp, id: string) => (await app.call('GET', `/v1/threads/${id}`)).body
