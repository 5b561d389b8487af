import { describe, expect, test } from 'vitest'
import { DEFAULT_SETTINGS } from '../../../src/approvals/notifications/settings.ts'
import { addMember } from '../../identity/accounts/members.ts'
import { anyStore } from '../../stores.ts'
import {
  askFor,
  decideWith,
  decisionTokens,
  linkMail,
  type NotifiedApp,
  notifiedApp,
  type Person,
  readMessages,
  requestMails,
  waitForMails,
} from './notified-app.ts'

const FIVE_MINUTES = 300_000

const setMySettings = async (app: NotifiedApp, person: Person, change: object | null) => {
  const settings = change && { ...DEFAULT_SETTINGS, ...change }
  const { status, body } = await app.call('PUT', '/v1/me/notifications', { settings }, { key: person.session })
  expect([status, body.settings]).toEqual([200, settings])
}

/** The messages that are planned for the approval. */
async function planned(app: NotifiedApp, approval: string) {
  await expect
    .poll(async () => {
      await app.clock.advance(1_000)
      const row = await app.ctx.db
        .selectFrom('approvals')
        .select('notify_at')
        .where('id', '=', approval)
        .executeTakeFirstOrThrow()
      return row.notify_at
    })
    .toBe(null)
  return readMessages(app, approval)
}

anyStore((store) => {
  describe('who is told of a request', () => {
    test('every linked member who may decide, and nobody else', async () => {
      const app = await notifiedApp(store)
      const admin = { ...(await addMember(app, app.owner.session, 'admin')), email: 'admin-two@example.com' }
      const viewer = { ...(await addMember(app, app.owner.session, 'viewer')), email: 'viewer-two@example.com' }
      for (const person of [app.owner, app.operator, admin, viewer]) await linkMail(app, person)
      const told = async (action: string) => {
        const messages = await planned(app, (await askFor(app, action)).approval)
        return messages.map(({ member_id }) => member_id).toSorted()
      }
      const ids = (...people: Person[]) => people.map(({ id }) => id).toSorted()
      expect(await told('delete_room')).toEqual(ids(app.owner, app.operator, admin))
      expect(await told('publish')).toEqual(ids(app.owner, admin))
      await app.call('PUT', `/v1/members/${admin.id}`, { role: 'viewer' }, { key: app.owner.session })
      expect(await told('publish')).toEqual(ids(app.owner))
    })

    test('not the member who started the task, if the request excludes the requester', async () => {
      const app = await notifiedApp(store)
      for (const person of [app.owner, app.operator]) await linkMail(app, person)
      const input = { connection: 'crm', action: 'own_work', payload: { text: 'mine' } }
      const task = { wedge: 'gate', task_type: 'act', input }
      await app.call('POST', '/v1/tasks', task, { key: app.operator.session })
      const mails = await waitForMails(app, app.owner, 1)
      expect(mails[0]?.subject).toContain('own_work')
      expect(requestMails(app, app.operator)).toEqual([])
    })

    test('only through the services that the member has linked and wants for this risk', async () => {
      const app = await notifiedApp(store)
      const { approval: before } = await askFor(app, 'pay')
      expect(await planned(app, before)).toEqual([])
      await linkMail(app, app.operator)
      await setMySettings(app, app.operator, {
        low: { via: [], when: 'now' },
        medium: { via: ['mail'], when: 'never' },
      })
      expect(await planned(app, (await askFor(app, 'archive_order')).approval)).toEqual([])
      expect(await planned(app, (await askFor(app, 'delete_room')).approval)).toEqual([])
      expect(await planned(app, (await askFor(app, 'pay')).approval)).toHaveLength(1)
      await setMySettings(app, app.operator, null)
      expect(await planned(app, (await askFor(app, 'archive_order')).approval)).toHaveLength(1)
      const key = app.operator.session
      expect((await app.call('DELETE', '/v1/me/notifications/links/mail', undefined, { key })).status).toBe(204)
      expect(await planned(app, (await askFor(app, 'pay')).approval)).toEqual([])
    })
  })

  describe('when a member is told', () => {
    test('after quiet hours, and for high risk at once', async () => {
      const app = await notifiedApp(store)
      await linkMail(app, app.operator)
      // The test clock begins at 09:00 UTC.
      await setMySettings(app, app.operator, { quiet_hours: { from: '08:00', to: '09:05' } })
      const quiet = await askFor(app, 'delete_room')
      const [message] = await planned(app, quiet.approval)
      expect(message).toMatchObject({ state: 'waiting', due_at: '2026-03-02T09:05:00.000Z' })
      await askFor(app, 'pay')
      const [urgent] = await waitForMails(app, app.operator, 1)
      expect(urgent?.subject).toBe('Approval needed: crm: pay')
      await app.clock.advance(FIVE_MINUTES)
      const mails = await waitForMails(app, app.operator, 2)
      expect(mails[1]?.subject).toBe('Approval needed: delete_room')
    })

    test('in one digest for all requests that still wait, each with a link of its own', async () => {
      const app = await notifiedApp(store)
      await linkMail(app, app.operator)
      const digest = { via: ['mail'], when: 'digest' }
      await setMySettings(app, app.operator, { low: digest, medium: digest, digest_at: '09:05' })
      const first = await askFor(app, 'archive_order', { text: 'the first' })
      const second = await askFor(app, 'delete_room', { text: 'the second' })
      const third = await askFor(app, 'archive_order', { text: 'the third' })
      for (const { approval } of [first, second, third]) expect(await planned(app, approval)).toHaveLength(1)
      await app.call('POST', `/v1/approvals/${second.approval}/reject`, {})
      await app.clock.advance(FIVE_MINUTES)
      const [mail, ...others] = await waitForMails(app, app.operator, 1)
      expect(others).toEqual([])
      expect(mail?.subject).toBe('2 requests need a decision')
      for (const text of ['the first', 'the third']) expect(mail?.text).toContain(text)
      expect(mail?.text).not.toContain('second')
      const tokens = mail ? decisionTokens(mail) : []
      expect(tokens).toHaveLength(2)
      for (const token of tokens) expect((await decideWith(app, token, { decision: 'approve' })).status).toBe(200)
      for (const { task } of [first, third]) expect((await app.finished(task)).status).toBe('succeeded')
      const [dropped] = await readMessages(app, second.approval)
      expect(dropped).toMatchObject({ state: 'dropped', sent_at: null })
    })

    test('not at all, if the member was removed or may not decide any more when the message is due', async () => {
      const app = await notifiedApp(store)
      for (const person of [app.owner, app.operator]) await linkMail(app, person)
      for (const person of [app.owner, app.operator]) {
        await setMySettings(app, person, { quiet_hours: { from: '08:00', to: '09:05' }, wake_for_high: false })
      }
      const { approval } = await askFor(app, 'pay')
      expect(await planned(app, approval)).toHaveLength(2)
      await app.call('DELETE', `/v1/members/${app.operator.id}`, undefined, { key: app.owner.session })
      await app.clock.advance(FIVE_MINUTES)
      await waitForMails(app, app.owner, 1)
      expect(requestMails(app, app.operator)).toEqual([])
      const states = (await readMessages(app, approval)).map(({ member_id, state }) => ({ member_id, state }))
      expect(states).toContainEqual({ member_id: app.operator.id, state: 'dropped' })
    })

    test('by the settings of the project, if the member has none', async () => {
      const app = await notifiedApp(store)
      await linkMail(app, app.operator)
      const settings = { ...DEFAULT_SETTINGS, medium: { via: ['mail'], when: 'digest' }, time_zone: 'Asia/Tokyo' }
      expect(await app.call('PUT', '/v1/notification-settings', settings)).toMatchObject({
        status: 200,
        body: settings,
      })
      expect((await app.call('GET', '/v1/notification-settings')).body).toEqual(settings)
      const [message] = await planned(app, (await askFor(app, 'delete_room')).approval)
      expect(message).toMatchObject({ is_digest: 1, due_at: '2026-03-03T00:00:00.000Z' })
      const { body } = await app.call('GET', '/v1/me/notifications', undefined, { key: app.operator.session })
      expect(body).toMatchObject({ settings: null, project_settings: settings, available: ['mail'] })
    })
  })
})
