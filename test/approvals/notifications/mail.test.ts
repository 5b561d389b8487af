import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mailServerProblem } from '../../../scripts/machine.mjs'
import { addMember, signUpOwner } from '../../identity/accounts/members.ts'
import { requestedApprovalId } from '../decisions/gated-app.ts'
import { mailApp, startMail } from '../../mail/mail-app.ts'
import { type MailServer, startMailServer } from '../../mail/mail-server.ts'
import { anyStore } from '../../stores.ts'

const problem = mailServerProblem()
const KIM = 'kim@test.example'

describe.skipIf(problem !== null)(`mails about approvals${problem === null ? '' : ` (skipped: ${problem})`}`, () => {
  let server: MailServer
  const seen = new Set<string>()
  beforeAll(async () => {
    server = await startMailServer()
  })
  afterAll(() => server?.stop())

  /** The next mail in the mailbox of Kim, whose files are in no order. */
  async function nextMail(): Promise<string> {
    const mails = await server.receivedMail(seen.size + 1, KIM)
    const next = mails.find((mail) => !seen.has(mail)) ?? ''
    seen.add(next)
    return readMail(next)
  }

  anyStore((store) => {
    test('a member confirms the address, gets a mail through Postfix and decides with its link', async () => {
      const config = {
        provider: 'smtp',
        host: '127.0.0.1',
        port: server.submissionPort,
        username: server.username,
        from: 'Desk <desk@test.example>',
        ca: server.ca,
      }
      const env = { SVC_PUBLIC_URL: 'https://work.example' }
      const app = await mailApp(store, config, { secret: server.password, env })
      const owner = await signUpOwner(app)
      const { session, id } = await addMember(app, owner, 'operator', KIM)
      await app.call('PUT', '/v1/notifiers/mail', { connection: 'mail' })
      await app.call('POST', '/v1/me/notifications/links', { kind: 'mail' }, { key: session })
      const token = /settings\?view=notifications#confirm=([\w-]+)/.exec(await nextMail())?.[1]
      await app.call('POST', '/v1/me/notifications/confirm', { token }, { key: session })

      const task = await startMail(app, { to: 'agent@test.example', subject: 'Grüße', text: 'It left today.' })
      const approval = await requestedApprovalId(app, task.id)
      await expect
        .poll(async () => {
          await app.clock.advance(1_000)
          const query = app.ctx.db.selectFrom('notification_messages').select('state')
          return query.where('approval_id', '=', approval).executeTakeFirst()
        })
        .toEqual({ state: 'sent' })
      const mail = await nextMail()
      expect(mail).toMatch(/^Auto-Submitted: auto-generated/im)
      expect(mail).toContain('It left today.')
      const link = /https:\/\/work\.example\/decide#(dl_[\w-]+)/.exec(mail)?.[1] ?? ''
      expect((await app.call('GET', '/v1/decide', undefined, { key: link })).body.approval.approval_id).toBe(approval)
      const decided = await app.call('POST', '/v1/decide', { decision: 'approve' }, { key: link })
      expect(decided.body).toEqual({ ok: true, decision: 'approved' })
      expect((await app.finished(task.id)).status).toBe('succeeded')
      const { decided_by } = (await app.call('GET', `/v1/approvals/${approval}`)).body
      expect(decided_by).toEqual({ kind: 'member', id, name: KIM })
    })
  })
})

/** The mail with its quoted-printable parts decoded; soft line breaks would split the links. */
const readMail = (raw: string) =>
  raw
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
