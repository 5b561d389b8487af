import { describe, expect, test } from 'vitest'
import type { App } from '../../../src/server/app.ts'
import { addMember } from '../../identity/accounts/members.ts'
import { callsFor, startReplica, stopReplica } from '../decisions/gated-app.ts'
import { callApi } from '../../http.ts'
import { anyStore, eachStore } from '../../stores.ts'
import {
  askFor,
  decideWith,
  decisionTokens,
  linkMail,
  notifiedApp,
  type Person,
  readApproval,
  readMessages,
  requestMails,
  waitForMails,
} from './notified-app.ts'

anyStore((store) => {
  describe('messages about approvals', () => {
    test('a mail that the server refuses is sent again later', async () => {
      const app = await notifiedApp(store)
      await linkMail(app, app.operator)
      let failures = 2
      const { respond } = app.outside
      app.outside.respond = (received, response) => {
        if (received.url !== '/mail' || failures-- <= 0) return respond(received, response)
        response.writeHead(503).end('{}')
      }
      const { approval } = await askFor(app, 'pay')
      await waitForMails(app, app.operator, 1)
      await expect.poll(async () => (await readMessages(app, approval))[0]?.error).toMatch(/503/)
      expect((await readMessages(app, approval))[0]).toMatchObject({ state: 'waiting', attempts: 1, external_id: null })
      await waitForMails(app, app.operator, 3)
      await expect.poll(async () => (await readMessages(app, approval))[0]?.state).toBe('sent')
      expect((await readMessages(app, approval))[0]).toMatchObject({ error: null, shown: 'pending' })
    })

    test('a message is dropped if the member removes the link', async () => {
      const app = await notifiedApp(store)
      await linkMail(app, app.operator)
      app.outside.respond = (_received, response) => void response.writeHead(503).end('{}')
      const unlinked = await askFor(app, 'pay')
      await waitForMails(app, app.operator, 1)
      await app.call('DELETE', '/v1/me/notifications/links/mail', undefined, { key: app.operator.session })
      const stateOf = async (approval: string) => (await app.clock.advance(1_000), await readMessages(app, approval))[0]
      await expect.poll(() => stateOf(unlinked.approval)).toMatchObject({ state: 'dropped' })
      expect(requestMails(app, app.operator)).toHaveLength(1)
    })
  })
})

eachStore((store) => {
  describe('messages about approvals', () => {
    test('a replica that died while it sent a mail does not lose the mail', async () => {
      const app = await notifiedApp(store)
      await linkMail(app, app.operator)
      const { approval } = await askFor(app, 'pay')
      await waitForMails(app, app.operator, 1)
      await expect.poll(async () => (await readMessages(app, approval))[0]?.state).toBe('sent')
      // As if the replica had died between the mail and its record.
      const claimed_until = new Date(app.clock.now() + 120_000).toISOString()
      await app.ctx.store.transact((db) =>
        db
          .updateTable('notification_messages')
          .set({ state: 'waiting', claimed_by: 'rep_gone', claimed_until })
          .where('approval_id', '=', approval)
          .execute(),
      )
      await app.clock.advance(100_000)
      expect(requestMails(app, app.operator)).toHaveLength(1)
      await waitForMails(app, app.operator, 2)
    })

    test.runIf(store === 'postgres')('two replicas send each message once', async () => {
      const app = await notifiedApp(store)
      const other = await startReplica(app)
      await linkMail(app, app.operator)
      for (let n = 0; n < 5; n++) await askFor(app, 'pay', { n })
      await waitForMails(app, app.operator, 5)
      await app.clock.advance(10_000)
      expect(requestMails(app, app.operator)).toHaveLength(5)
      await stopReplica(app, other)
    })

    test.runIf(store === 'postgres')(
      'fifty decisions at once by API and decision page on two replicas have one outcome and one effect',
      async () => {
        const app = await notifiedApp(store)
        const other = await startReplica(app)
        const people: Person[] = [app.owner, app.operator]
        for (let n = 0; n < 3; n++) {
          const email = `member${n}@example.com`
          people.push({ ...(await addMember(app, app.owner.session, 'operator', email)), email })
        }
        for (const person of people) await linkMail(app, person)
        const { task, approval } = await askFor(app, 'pay')
        const tokens: string[] = []
        for (const person of people) {
          const [mail] = await waitForMails(app, person, 1)
          tokens.push(...(mail ? decisionTokens(mail) : []))
        }
        expect(tokens).toHaveLength(people.length)
        const answers = await Promise.all(
          Array.from({ length: 50 }, (_, n) => decideSomehow([app.app, other], people, tokens, approval, n)),
        )
        const won = answers.filter(({ status }) => status === 200)
        expect(won).toHaveLength(1)
        for (const { status } of answers.filter((answer) => !won.includes(answer))) expect([409, 410]).toContain(status)
        const ended = await app.finished(task)
        const isApproved = won[0]?.body.decision === 'approved'
        expect(ended.status).toBe(isApproved ? 'succeeded' : 'rejected')
        expect(callsFor(app, approval)).toHaveLength(isApproved ? 1 : 0)
        const { status } = await readApproval(app, approval)
        expect(status).toBe(won[0]?.body.decision)
        await expect
          .poll(async () => {
            await app.clock.advance(1_000)
            return new Set((await readMessages(app, approval)).map(({ shown }) => shown))
          })
          .toEqual(new Set([status]))
        await stopReplica(app, other)
      },
    )
  })
})

/** Every second call is one of the API, the others come from the decision page; half of them approve. */
function decideSomehow(replicas: App[], people: Person[], tokens: string[], approval: string, n: number) {
  const { url = '' } = replicas[n % 4 < 2 ? 0 : 1] ?? {}
  const decision = n % 3 === 0 ? 'reject' : 'approve'
  const at = n % people.length
  if (n % 2 === 0) return decideWith({ url }, tokens[at] ?? '', { decision })
  return callApi(url, people[at]?.session ?? '', 'POST', `/v1/approvals/${approval}/${decision}`, {})
}
