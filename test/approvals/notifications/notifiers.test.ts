import { describe, expect, test } from 'vitest'
import { auditActions } from '../../identity/accounts/members.ts'
import { anyStore } from '../../stores.ts'
import { linkMail, mailsTo, notifiedApp } from './notified-app.ts'

anyStore((store) => {
  describe('the services of a project', () => {
    test('an admin sets up a service with a connection, replaces it and removes it', async () => {
      const app = await notifiedApp(store)
      const { body } = await app.call('GET', '/v1/notifiers')
      expect(body.data).toEqual([
        {
          kind: 'mail',
          connection: 'mail',
          connection_id: expect.stringMatching(/^conn_/),
          has_secret: false,
          secret: null,
          hook_url: null,
          created_at: expect.any(String),
        },
      ])
      const set = (kind: string, connection: string) => app.call('PUT', `/v1/notifiers/${kind}`, { connection })
      expect(await set('mail', 'absent')).toMatchObject({
        status: 400,
        body: { error: "field 'connection' must name a connection of this project" },
      })
      expect(await set('mail', 'crm')).toMatchObject({
        status: 400,
        body: { error: "field 'connection' must name a connection of the kind 'email'" },
      })
      expect((await set('fax', 'mail')).status).toBe(404)
      expect((await app.call('POST', '/v1/notifiers/mail/secret', { value: 'x' })).status).toBe(400)
      expect((await app.call('DELETE', '/v1/notifiers/mail')).status).toBe(204)
      expect((await app.call('DELETE', '/v1/notifiers/mail')).status).toBe(404)
      const key = app.operator.session
      expect(await app.call('POST', '/v1/me/notifications/links', { kind: 'mail' }, { key })).toMatchObject({
        status: 409,
        body: { error: 'the project has not set up notifications by mail' },
      })
    })

    test('the secret of a service is sealed and never returned', async () => {
      const app = await notifiedApp(store)
      await app.call('PUT', '/v1/notifiers/slack', { connection: 'crm' })
      const secret = 'signing-secret-0123456789'
      const answer = await app.call('POST', '/v1/notifiers/slack/secret', { value: secret })
      expect(answer.body).toMatchObject({ kind: 'slack', has_secret: true })
      expect(answer.body.hook_url).toMatch(/^https:\/\/work\.example\/v1\/hooks\/notifiers\/ntf_/)
      const stored = JSON.stringify(await app.ctx.db.selectFrom('vault').selectAll().execute())
      expect(stored + JSON.stringify(answer.body) + app.logged.join('')).not.toContain(secret)
      expect((await app.call('DELETE', '/v1/notifiers/slack')).status).toBe(204)
      const left = await app.ctx.db.selectFrom('vault').select('kind').where('kind', '=', 'notifier').execute()
      expect(left).toEqual([])
    })
  })

  describe('the links of a member', () => {
    test('a mail address is linked by the link of a mail, which works once and for its member only', async () => {
      const app = await notifiedApp(store)
      const { session } = app.operator
      await app.call('POST', '/v1/me/notifications/links', { kind: 'mail' }, { key: session })
      const token = /#confirm=(\S+)/.exec(mailsTo(app, app.operator).at(-1)?.text ?? '')?.[1] ?? ''
      const confirm = (key: string, given = token) =>
        app.call('POST', '/v1/me/notifications/confirm', { token: given }, { key })
      expect((await confirm(app.owner.session)).status).toBe(410)
      expect((await confirm(session, `${token}x`)).status).toBe(410)
      expect((await confirm(session)).status).toBe(200)
      expect((await confirm(session)).status).toBe(410)
      const { body } = await app.call('GET', '/v1/me/notifications', undefined, { key: session })
      expect(body.links).toEqual([{ kind: 'mail', address: app.operator.email, linked_at: expect.any(String) }])
      const project = (await app.call('GET', '/v1/projects')).body.data[0].id
      expect(await auditActions(app, project)).toEqual(
        expect.arrayContaining(['notifier.updated', 'notification_link.requested', 'notification_link.created']),
      )
    })

    test('a confirmation that is an hour old is refused, and a new request replaces an earlier one', async () => {
      const app = await notifiedApp(store)
      const key = app.operator.session
      const ask = async () => {
        await app.call('POST', '/v1/me/notifications/links', { kind: 'mail' }, { key })
        return /#confirm=(\S+)/.exec(mailsTo(app, app.operator).at(-1)?.text ?? '')?.[1]
      }
      const confirm = (token: string | undefined) =>
        app.call('POST', '/v1/me/notifications/confirm', { token }, { key })
      const first = await ask()
      const second = await ask()
      expect((await confirm(first)).status).toBe(410)
      await app.ctx.store.transact((db) =>
        db
          .updateTable('notification_codes')
          .set({ expires_at: new Date(app.clock.now()).toISOString() })
          .execute(),
      )
      expect((await confirm(second)).status).toBe(410)
      await linkMail(app, app.operator)
      for (let n = 3; n < 10; n++) await ask()
      const tooMany = await app.call('POST', '/v1/me/notifications/links', { kind: 'mail' }, { key })
      expect([tooMany.status, mailsTo(app, app.operator)]).toEqual([429, expect.objectContaining({ length: 10 })])
    })

    test('a key has no notifications of its own', async () => {
      const app = await notifiedApp(store)
      for (const [method, path, body] of [
        ['GET', '/v1/me/notifications', undefined],
        ['PUT', '/v1/me/notifications', { settings: null }],
        ['POST', '/v1/me/notifications/links', { kind: 'mail' }],
        ['POST', '/v1/me/notifications/confirm', { token: 'x' }],
        ['DELETE', '/v1/me/notifications/links/mail', undefined],
      ] as const) {
        expect([path, (await app.call(method, path, body)).status]).toEqual([path, 403])
      }
    })
  })
})
