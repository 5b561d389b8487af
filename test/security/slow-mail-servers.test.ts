import { expect, test } from 'vitest'
import { type FakeImapServer, openFakeImapServer, type SlowReaction } from '../mail/fake-imap-server.ts'
import { type MailApp, mailApp } from '../mail/mail-app.ts'
import { createMailChannel, passTimeUntil, REPLY_WEDGE } from '../mail/mailbox-app.ts'

const MINUTE = 60_000

/** Commands that a server does not answer, and what the channel says of it. */
const SLOW_COMMANDS: [string, string][] = [
  ['CAPABILITY', 'the mail server took more than 2 minutes to open the mailbox'],
  ['LOGIN', 'the mail server took more than 2 minutes to open the mailbox'],
  ['EXAMINE', 'the mail server took more than 2 minutes to open the mailbox'],
  ['UID SEARCH', 'the mail server took more than 10 minutes to list the new mails'],
  ['UID FETCH', 'the mail server took more than 10 minutes to list the new mails'],
  ['UID FETCH 1 (UID RFC822.SIZE', 'the mail server took more than 10 minutes to send a mail'],
  ['UID FETCH 1 (UID BODY', 'the mail server took more than 10 minutes to send a mail'],
  ['DONE', 'the mail server took more than 10 minutes to list the new mails'],
]
const REACTIONS: SlowReaction[] = ['sends nothing', 'sends byte after byte']

interface SlowChannel {
  name: string
  id: string
  server: FakeImapServer
  error: string
}

const openMailApp = (): Promise<MailApp> =>
  mailApp(
    'sqlite',
    { provider: 'smtp', host: 'localhost', from: 'a@b.example' },
    { env: { SVC_EGRESS_ALLOW: '127.0.0.1,::1,localhost' }, wedges: REPLY_WEDGE },
  )

async function addChannel(app: MailApp, { config }: FakeImapServer, address: string): Promise<string> {
  const id = await createMailChannel(app, app.connectionId, { config, address })
  await app.call('POST', `/v1/channels/${id}/secret`, { value: 'a-password' })
  return id
}

async function addSlowChannel(
  app: MailApp,
  command: string,
  reaction: SlowReaction,
  error: string,
): Promise<SlowChannel> {
  const server = await openFakeImapServer({ command, reaction })
  const name = `${command}: ${reaction}`
  return { name, server, error, id: await addChannel(app, server, `${crypto.randomUUID()}@test.example`) }
}

const lastErrors = async (app: MailApp): Promise<Map<string, string | null>> => {
  const channels: { id: string; last_error: string | null }[] = (await app.call('GET', '/v1/channels')).body.data
  return new Map(channels.map(({ id, last_error }) => [id, last_error]))
}

const receivedTexts = async (app: MailApp, channel: string) => {
  const threads = app.ctx.db.selectFrom('threads').select('id').where('channel_id', '=', channel)
  const query = app.ctx.db.selectFrom('messages').select('body').where('direction', '=', 'inbound')
  return (await query.where('thread_id', 'in', threads).execute()).map(({ body }) => body)
}

async function passTimeUntilErrors(app: MailApp, channels: SlowChannel[]): Promise<Map<string, string | null>> {
  let errors = new Map<string, string | null>()
  await passTimeUntil(app, async () => {
    errors = await lastErrors(app)
    return channels.every(({ id }) => errors.get(id) !== null)
  })
  return errors
}

test('a mail server that stops in the middle of a command is disconnected in time, and holds no other mailbox', async () => {
  const app = await openMailApp()
  const slow: SlowChannel[] = []
  for (const [command, error] of SLOW_COMMANDS)
    for (const reaction of REACTIONS) slow.push(await addSlowChannel(app, command, reaction, error))
  await passTimeUntil(app, async () => slow.every(({ server }) => server.stuckConnections() > 0))
  const working = await openFakeImapServer()
  const channel = await addChannel(app, working, 'agent@test.example')
  await passTimeUntil(app, async () => (await receivedTexts(app, channel)).length > 0)
  expect(await receivedTexts(app, channel)).toEqual(['Where is it?'])

  await app.clock.advance(10 * MINUTE)
  const errors = await passTimeUntilErrors(app, slow)
  expect(slow.map(({ name, id }) => [name, errors.get(id)])).toEqual(slow.map(({ name, error }) => [name, error]))
  expect(errors.get(channel)).toBeNull()
  await passTimeUntil(app, async () => slow.every(({ server }) => server.connections() > 1))
  await passTimeUntil(app, async () => slow.every(({ server }) => server.openConnections() <= 1))
})

test.each(REACTIONS)(
  'a mailbox whose server %s during the login can be changed and deleted at once, and the others are read',
  async (reaction) => {
    const app = await openMailApp()
    const { server, id } = await addSlowChannel(app, 'LOGIN', reaction, '')
    await passTimeUntil(app, async () => server.stuckConnections() === 1)
    const working = await openFakeImapServer()
    expect((await app.call('PUT', `/v1/channels/${id}`, { config: working.config })).status).toBe(200)
    await passTimeUntil(app, async () => (await receivedTexts(app, id)).length > 0)
    expect((await lastErrors(app)).get(id)).toBeNull()
    expect(server.openConnections()).toBe(0)

    const other = await addSlowChannel(app, 'LOGIN', reaction, '')
    await passTimeUntil(app, async () => other.server.stuckConnections() === 1)
    expect((await app.call('DELETE', `/v1/channels/${other.id}`)).status).toBe(204)
    const next = await addChannel(app, await openFakeImapServer(), 'next@test.example')
    await passTimeUntil(app, async () => (await receivedTexts(app, next)).length > 0)
    expect(other.server.openConnections()).toBe(0)
  },
)
