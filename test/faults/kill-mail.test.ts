import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { mailServerProblem } from '../../scripts/machine.mjs'
import { parseMime } from '../../src/customers/channels/parsers/mime-mail.ts'
import { GATED_ENV } from '../approvals/decisions/gated-app.ts'
import {
  createMailChannel,
  deliverMail,
  REPLY_WEDGE,
  startOwnMailServer,
  submissionConfig,
} from '../mail/mailbox-app.ts'
import { mailboxConfig, type MailServer } from '../mail/mail-server.ts'
import type { StoreKind } from '../stores.ts'
import { attemptNumbers, FAULT_TIMEOUT_MS } from './rounds.ts'
import { createDeployment, type ServiceProcess, SHORT_LEASE } from './service-process.ts'
import { inMatrix, onlyInMatrix } from '../matrix.ts'

const problem = mailServerProblem()

async function connectMailbox(service: ServiceProcess, server: MailServer): Promise<void> {
  const connection = { kind: 'email', name: 'mail', config: submissionConfig(server) }
  const { id } = (await service.call('POST', '/v1/connections', connection)).body
  await service.call('POST', `/v1/connections/${id}/secret`, { value: server.password })
  const channel = await createMailChannel(service, id, { config: mailboxConfig(server) })
  await service.call('POST', `/v1/channels/${channel}/secret`, { value: server.password })
}

interface ThreadAfterKills {
  id: string
  subject: string
  unanswered: object | null
  messages: { direction: string; body: string; delivery: string | null }[]
}

async function readThreads(service: ServiceProcess): Promise<ThreadAfterKills[]> {
  const { data } = (await service.call('GET', '/v1/threads?limit=100')).body
  return Promise.all(data.map(async ({ id }: { id: string }) => (await service.call('GET', `/v1/threads/${id}`)).body))
}

const hasEnded = ({ unanswered, messages }: ThreadAfterKills): boolean =>
  unanswered !== null || messages.some(({ delivery }) => delivery === 'sent')

/** The mails that are lost, or that were received and neither answered nor shown to the team as unanswered. */
async function openMails(service: ServiceProcess, numbers: readonly number[]): Promise<string[]> {
  const ended = new Set((await readThreads(service)).filter(hasEnded).map(({ subject }) => subject))
  return numbers.map((n) => `Mail ${n}`).filter((subject) => !ended.has(subject))
}

/** The text of a mail at which the service was killed twice. */
const SET_ASIDE = /^\[This mail could not be read \(earlier attempts to receive it have failed\)/

async function killWhileMailsArrive(store: StoreKind): Promise<void> {
  const server = await startOwnMailServer()
  const env = { ...GATED_ENV, ...SHORT_LEASE, SVC_EGRESS_ALLOW: '127.0.0.1,::1,localhost' }
  const deployment = await createDeployment(store, { wedges: REPLY_WEDGE, env })
  let service = await deployment.start()
  await connectMailbox(service, server)
  const numbers = attemptNumbers(12)
  for (const n of numbers) {
    await deliverMail(server, { subject: `Mail ${n}`, text: `text ${n}`, messageId: `<k${n}@test.example>` })
    if (n % 3 !== 0) continue
    // The kill meets another step each time: the mailbox is read, the task runs, the reply is sent.
    await pause(n * 100)
    await service.kill()
    service = await deployment.start()
  }
  await expect.poll(() => openMails(service, numbers), { timeout: FAULT_TIMEOUT_MS / 2, interval: 500 }).toEqual([])
  const threads = await readThreads(service)
  const inbound = threads.flatMap(({ subject, messages }) =>
    messages.filter(({ direction }) => direction === 'inbound').map(({ body }) => ({ subject, body })),
  )
  expect(inbound.map(({ subject }) => subject).toSorted()).toEqual(numbers.map((n) => `Mail ${n}`).toSorted())
  for (const { subject, body } of inbound)
    expect([subject.replace('Mail', 'text'), expect.stringMatching(SET_ASIDE)]).toContainEqual(body)
  expect((await service.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  await expectNoMailTwice(server, threads)
}

/** Each answer that the service calls sent is in the client's mailbox once, and no answer is there twice. */
async function expectNoMailTwice(server: MailServer, threads: ThreadAfterKills[]): Promise<void> {
  const sent = threads.flatMap(({ messages }) => messages.filter(({ delivery }) => delivery === 'sent'))
  const received = await server.receivedMail(sent.length, 'kim@test.example')
  const texts = await Promise.all(received.map(async (raw) => (await parseMime(Buffer.from(raw))).text?.trim() ?? ''))
  expect(new Set(texts).size).toBe(texts.length)
  expect(texts).toEqual(expect.arrayContaining(sent.map(({ body }) => body)))
}

async function killWhileOneMailIsRead(): Promise<void> {
  const server = await startOwnMailServer()
  const env = { ...GATED_ENV, SVC_EGRESS_ALLOW: '127.0.0.1,::1,localhost' }
  const deployment = await createDeployment('sqlite', { wedges: REPLY_WEDGE, env })
  let service = await deployment.start()
  await connectMailbox(service, server)
  // Reading it takes some seconds, within which the service is killed.
  const attachments = [{ filename: 'film.mp4', content: Buffer.alloc(20 * 1024 * 1024) }]
  await deliverMail(server, { subject: 'Film', text: 'Look at this', attachments })
  await deliverMail(server, { subject: 'After', text: 'still here' })
  const db = await deployment.openRows()
  const readProgress = async () => (await db.selectFrom('channels').select('progress').executeTakeFirst())?.progress
  for (const times of [1, 2]) {
    await expect.poll(readProgress).toContain(`"crashes":${times}`)
    await service.kill()
    service = await deployment.start()
  }
  await expect.poll(async () => (await readThreads(service)).filter(hasEnded).length).toBe(2)
  const inbound = (await readThreads(service)).map(({ subject, messages }) => [subject, messages[0]?.body])
  expect(Object.fromEntries(inbound)).toEqual({
    After: 'still here',
    Film: expect.stringMatching(SET_ASIDE),
  })
}

describe.skipIf(problem !== null)(`kill -9 with a mailbox${problem === null ? '' : ` (skipped: ${problem})`}`, () => {
  test.each(inMatrix<StoreKind>(['sqlite', 'postgres'], ['sqlite']))(
    'on %s: every mail is received once, and no answer is sent twice',
    killWhileMailsArrive,
    2 * FAULT_TIMEOUT_MS,
  )

  onlyInMatrix(() => {
    test('twice while the same mail is read: it is set aside, and the mails behind it arrive', killWhileOneMailIsRead)
  })
})
