import { describe, expect, test } from 'vitest'
import { anyStore, eachStore } from '../../stores.ts'
import {
  askFor,
  askWithLink,
  decideWith,
  linkMail,
  notifiedApp,
  readApproval,
  readLink,
  readMessages,
  requestMails,
  waitForMails,
} from './notified-app.ts'

anyStore((store) => {
  describe('the decision link of a mail', () => {
    test('shows the request without changing anything, decides as the member, and works once', async () => {
      const app = await notifiedApp(store)
      await linkMail(app, app.operator)
      const { task, approval, token } = await askWithLink(app, app.operator, 'pay', { text: 'Pay the invoice' })
      const [mail] = requestMails(app, app.operator)
      expect(mail).toMatchObject({ subject: 'Approval needed: crm: pay', text: expect.stringContaining('Risk: high') })
      expect(mail?.text).toContain('Pay the invoice')
      for (let n = 0; n < 3; n++) {
        expect(await readLink(app, token)).toMatchObject({
          status: 200,
          body: {
            approval: { approval_id: approval, status: 'pending', steps: expect.any(Array) },
            member: { id: app.operator.id, email: app.operator.email },
          },
        })
      }
      const misread = await decideWith(app, token, { decision: 'approve', edited: { 'amo\u200bunt': 1_000_000 } })
      expect(misread).toMatchObject({ status: 400, body: { error: expect.stringContaining('amo<U+200B>unt') } })
      const decided = await decideWith(app, token, { decision: 'approve', edited: { text: 'Pay half' } })
      expect(decided).toMatchObject({ status: 200, body: { ok: true, decision: 'approved' } })
      expect(await app.finished(task)).toMatchObject({ status: 'succeeded' })
      expect(await readApproval(app, approval)).toMatchObject({
        status: 'approved',
        edited: { text: 'Pay half' },
        decided_by: { kind: 'member', id: app.operator.id, name: app.operator.email },
      })
      const made = { status: 'approved', approved_by_you: true, votes: 0, needed: 1 }
      const body = { error: `the request is decided: Approved with changes by ${app.operator.email}`, ...made }
      expect(await readLink(app, token)).toMatchObject({ status: 410, body })
      expect((await decideWith(app, token, { decision: 'reject' })).status).toBe(410)
    })

    test('opens the files that the request shows, and no other', async () => {
      const app = await notifiedApp(store)
      await linkMail(app, app.operator)
      const upload = async (name: string) => {
        const headers = { 'content-type': 'text/plain' }
        return (await app.call('POST', `/v1/files?name=${name}`, undefined, { headers, raw: `This is ${name}.` })).body
          .id
      }
      const [receipt, other] = [await upload('receipt.txt'), await upload('other.txt')]
      const { token } = await askWithLink(app, app.operator, 'pay', { text: 'Pay', receipt: { $file: receipt } })
      const [mail] = requestMails(app, app.operator)
      expect(mail?.text).toContain('receipt: receipt.txt')
      expect((await readLink(app, token)).body.approval.files).toMatchObject([{ id: receipt, name: 'receipt.txt' }])
      const read = (id: string, key = token) => app.call('GET', `/v1/decide/files/${id}`, undefined, { key })
      const responses = [await read(receipt), await read(other), await read(receipt, 'dl_another')]
      expect((await decideWith(app, token, { decision: 'reject' })).status).toBe(200)
      responses.push(await read(receipt))
      expect(responses.map(({ status }) => status)).toEqual([200, 404, 401, 410])
      expect(responses[0]?.body).toBe('This is receipt.txt.')
      for (const { headers } of responses) expect(headers.get('cache-control')).toContain('no-store')
    })

    test('counts as one vote of the member, and a second person decides', async () => {
      const app = await notifiedApp(store)
      await linkMail(app, app.operator)
      const { task, approval, token } = await askWithLink(app, app.operator, 'transfer')
      expect(await decideWith(app, token, { decision: 'approve' })).toMatchObject({
        status: 200,
        body: { ok: true, decision: 'pending', needed: 2, votes: [{ by: { id: app.operator.id } }] },
      })
      const used = {
        error: 'this link was used already',
        status: 'pending',
        approved_by_you: true,
        votes: 1,
        needed: 2,
      }
      expect(await readLink(app, token)).toMatchObject({ status: 410, body: used })
      const again = await app.call('POST', `/v1/approvals/${approval}/approve`, {}, { key: app.operator.session })
      expect(again.body).toMatchObject({ decision: 'pending' })
      const second = await app.call('POST', `/v1/approvals/${approval}/approve`, {}, { key: app.owner.session })
      expect(second.body).toEqual({ ok: true, decision: 'approved' })
      expect((await app.finished(task)).status).toBe('succeeded')
    })

    test('is not used up by a decision that is refused', async () => {
      const app = await notifiedApp(store)
      await linkMail(app, app.operator)
      const { approval, token } = await askWithLink(app, app.operator, 'pay')
      expect((await app.call('POST', '/v1/decide', undefined, { key: token })).status).toBe(400)
      expect((await decideWith(app, token, { decision: 'maybe' })).status).toBe(400)
      expect((await decideWith(app, token, { decision: 'revise' })).status).toBe(400)
      expect(await decideWith(app, token, { decision: 'revise', note: 'Half of it' })).toMatchObject({
        status: 200,
        body: { ok: true, decision: 'rejected' },
      })
      expect(await readApproval(app, approval)).toMatchObject({
        status: 'rejected',
        revise: true,
        reason: 'Half of it',
      })
    })

    test('says who decided, once another member has', async () => {
      const app = await notifiedApp(store)
      await linkMail(app, app.operator)
      const { approval, token } = await askWithLink(app, app.operator, 'pay')
      const { session } = app.owner
      await app.call('POST', `/v1/approvals/${approval}/reject`, { reason: 'Too much' }, { key: session })
      const error = 'the request is decided: Rejected by owner@example.com: Too much'
      expect(await readLink(app, token)).toMatchObject({ status: 410, body: { error } })
      expect(await decideWith(app, token, { decision: 'approve' })).toMatchObject({ status: 410, body: { error } })
      await expect.poll(async () => (await readMessages(app, approval))[0]?.shown).toBe('rejected')
    })

    test('ends with the request', async () => {
      const app = await notifiedApp(store)
      await linkMail(app, app.operator)
      const { task, token } = await askWithLink(app, app.operator, 'hurry')
      await app.clock.advance(121_000)
      expect((await app.finished(task)).status).toBe('expired')
      expect((await decideWith(app, token, { decision: 'approve' })).status).toBe(410)
    })

    test('does not work for a member who was removed or got a lower role after the mail', async () => {
      const app = await notifiedApp(store)
      await linkMail(app, app.operator)
      const { approval, token } = await askWithLink(app, app.operator, 'pay')
      const member = `/v1/members/${app.operator.id}`
      await app.call('PUT', member, { role: 'viewer' }, { key: app.owner.session })
      expect(await decideWith(app, token, { decision: 'approve' })).toMatchObject({ status: 403 })
      await app.call('DELETE', member, undefined, { key: app.owner.session })
      expect(await decideWith(app, token, { decision: 'approve' })).toMatchObject({
        status: 403,
        body: { error: 'you are not a member any more' },
      })
      expect((await readLink(app, token)).status).toBe(403)
      expect((await readApproval(app, approval)).status).toBe('pending')
    })

    test('gets only responses that no cache keeps', async () => {
      const app = await notifiedApp(store)
      await linkMail(app, app.operator)
      const { approval, token } = await askWithLink(app, app.operator, 'pay')
      const asked = await askWithLink(app, app.operator, 'pay')
      const changed = { decision: 'approve', payload_sha256: 'another' }
      const decide = (key: string, body?: object) => app.call(body ? 'POST' : 'GET', '/v1/decide', body, { key })
      const responses = [
        await decide('dl_unknown'),
        await decide(token),
        await decide(token, { decision: 'maybe' }),
        await decide(token, changed),
        await decide(token, { decision: 'approve' }),
        await decide(token),
        await decide(token, { decision: 'approve' }),
      ]
      await app.call('DELETE', `/v1/members/${app.operator.id}`, undefined, { key: app.owner.session })
      responses.push(await decide(asked.token), await decide(asked.token, { decision: 'approve' }))
      expect(responses.map(({ status }) => status)).toEqual([401, 200, 400, 409, 200, 410, 410, 403, 403])
      for (const { headers } of responses) expect(headers.get('cache-control')).toBe('no-store')
      expect((await readApproval(app, approval)).status).toBe('approved')
    })

    test('has the port on which the service listens, if no SVC_PUBLIC_URL is set and SVC_PORT is 0', async () => {
      const app = await notifiedApp(store, {})
      await linkMail(app, app.operator)
      await askFor(app, 'pay')
      const [mail] = await waitForMails(app, app.operator, 1)
      expect(mail?.text).toContain(`${app.url}/decide#dl_`)
    })

    test('does not work after the member has removed the link to the mailbox', async () => {
      const app = await notifiedApp(store)
      await linkMail(app, app.operator)
      const { approval, token } = await askWithLink(app, app.operator, 'pay')
      await app.call('DELETE', '/v1/me/notifications/links/mail', undefined, { key: app.operator.session })
      const refused = { status: 403, body: { error: expect.stringContaining('decide in the console') } }
      expect(await readLink(app, token)).toMatchObject(refused)
      expect(await decideWith(app, token, { decision: 'approve' })).toMatchObject(refused)
      expect((await readApproval(app, approval)).status).toBe('pending')
      await linkMail(app, app.operator)
      expect((await decideWith(app, token, { decision: 'approve' })).status).toBe(200)
    })

    test('opens nothing else, and no other credential opens it', async () => {
      const app = await notifiedApp(store)
      await linkMail(app, app.operator)
      const { approval, token } = await askWithLink(app, app.operator, 'pay')
      for (const path of ['/v1/approvals', `/v1/approvals/${approval}`, '/v1/me/notifications', '/v1/portal/me']) {
        expect([path, (await app.call('GET', path, undefined, { key: token })).status]).toEqual([path, 401])
      }
      for (const key of [app.key, app.owner.session, `${token}x`, 'dl_unknown', null]) {
        expect((await app.call('GET', '/v1/decide', undefined, { key })).status).toBe(401)
        expect((await app.call('POST', '/v1/decide', { decision: 'approve' }, { key })).status).toBe(401)
      }
      const stored = JSON.stringify(await app.ctx.db.selectFrom('decision_links').selectAll().execute())
      expect(stored + app.logged.join('')).not.toContain(token)
    })
  })
})

eachStore((store) => {
  describe('the decision link of a mail', () => {
    test('is used up by one of two calls at once, also if the request needs more approvals', async () => {
      const app = await notifiedApp(store)
      await linkMail(app, app.operator)
      const { approval, token } = await askWithLink(app, app.operator, 'transfer')
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) => decideWith(app, token, { decision: n % 2 === 0 ? 'approve' : 'reject' })),
      )
      const won = answers.filter(({ status }) => status === 200)
      expect(won).toHaveLength(1)
      for (const { status } of answers.filter((answer) => !won.includes(answer))) expect(status).toBe(410)
      const { status, votes } = await readApproval(app, approval)
      expect([status, votes.length]).toEqual(won[0]?.body.decision === 'pending' ? ['pending', 1] : ['rejected', 0])
    })
  })
})
