import { describe, expect, test } from 'vitest'
import { countByStatus, signUpOwner } from '../../identity/accounts/members.ts'
import { eachStore, sharedApp } from '../../app.ts'

const URL = 'https://hooks.example.com/in?token=t0ken'
const hook = { url: URL, events: ['task.finished', 'approval.requested'] }

eachStore((store) => {
  describe('the webhooks of a project', () => {
    const app = sharedApp({ store, env: { SVC_OPEN_SIGNUP: '1' } })

    test('a webhook is created with a secret that is shown once', async () => {
      const created = await app().call('POST', '/v1/webhooks', { ...hook, events: [...hook.events, 'task.finished'] })
      expect(created.status).toBe(201)
      const { secret, ...webhook } = created.body
      expect(secret).toMatch(/^whsec_/)
      expect(created.headers.get('location')).toBe(`/v1/webhooks/${webhook.id}`)
      expect(webhook).toEqual({
        id: expect.stringMatching(/^hook_[0-9a-z]{26}$/),
        project_id: expect.stringMatching(/^prj_/),
        url: URL,
        events: hook.events,
        enabled: true,
        previous_secret_until: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      })
      expect((await app().call('GET', `/v1/webhooks/${webhook.id}`)).body).toEqual(webhook)
      expect((await app().call('GET', '/v1/webhooks')).body.data).toContainEqual(webhook)
      const deliveries = await app().call('GET', `/v1/webhooks/${webhook.id}/deliveries`)
      expect(deliveries.body).toEqual({ data: [], next_cursor: null })
      const changed = await app().call('PUT', `/v1/webhooks/${webhook.id}`, { enabled: false })
      expect(changed.body).toEqual({ ...webhook, enabled: false, updated_at: expect.any(String) })
      const rotated = await app().call('POST', `/v1/webhooks/${webhook.id}/rotate`)
      expect(rotated.body.secret).toMatch(/^whsec_/)
      expect(rotated.body.secret).not.toBe(secret)
      expect((await app().call('DELETE', `/v1/webhooks/${webhook.id}`)).status).toBe(204)
      expect(await app().call('GET', `/v1/webhooks/${webhook.id}`)).toMatchObject({
        status: 404,
        body: { error: 'no such webhook' },
      })
    })

    test('every change is in the audit log, without the secret and without the path of the url', async () => {
      const { body } = await app().call('POST', '/v1/webhooks', hook)
      await app().call('PUT', `/v1/webhooks/${body.id}`, { events: ['schedule.failed'] })
      await app().call('POST', `/v1/webhooks/${body.id}/rotate`)
      await app().call('DELETE', `/v1/webhooks/${body.id}`)
      const { data } = (await app().call('GET', '/v1/audit?limit=200')).body
      const lines = data.filter(({ subject }: { subject: string }) => subject === body.id)
      const actions = lines.map(({ action }: { action: string }) => action)
      expect(actions).toEqual(['webhook.deleted', 'webhook.rotated', 'webhook.updated', 'webhook.created'])
      expect(lines.at(-1).data).toEqual({ host: 'hooks.example.com', events: hook.events, enabled: true })
      const everything = [JSON.stringify(lines), ...app().logged].join()
      expect(everything).not.toContain('t0ken')
      expect(everything).not.toContain('whsec_')
    })

    test('no secret is stored in plain text', async () => {
      const { body } = await app().call('POST', '/v1/webhooks', hook)
      for (const table of ['webhooks', 'vault', 'webhook_deliveries', 'audit_entries'] as const) {
        const rows = await app().ctx.db.selectFrom(table).selectAll().execute()
        expect(JSON.stringify(rows)).not.toContain(body.secret.slice(6, 20))
      }
      const ref = { kind: 'custom', name: 'thief', secret_ref: `vault:/webhooks/${body.id}` }
      expect((await app().call('POST', '/v1/connections', ref)).status).toBe(400)
      await app().call('DELETE', `/v1/webhooks/${body.id}`)
    })

    test.each([
      [{}, "field 'url' is required"],
      [{ ...hook, url: 'not a url' }, "field 'url' cannot be used: it is not a url"],
      [{ ...hook, url: 'ftp://example.com/' }, "field 'url' cannot be used: only http and https are allowed"],
      [
        { ...hook, url: 'http://127.0.0.1/' },
        "field 'url' cannot be used: its address is private or reserved, and SVC_EGRESS_ALLOW does not list it",
      ],
      [
        { ...hook, url: 'http://169.254.169.254/' },
        "field 'url' cannot be used: its address is private or reserved, and SVC_EGRESS_ALLOW does not list it",
      ],
      [
        { ...hook, url: 'https://a:b@example.com/' },
        "field 'url' cannot be used: a url must not carry a user or password",
      ],
      [{ ...hook, events: [] }, "field 'events' must not be empty"],
      [{ ...hook, events: ['task.started'] }, /^field 'events.0' must be one of approval.requested/],
      [{ ...hook, enabled: 'yes' }, "field 'enabled' must be true or false"],
    ])('%j is refused: %s', async (body, error) => {
      const refused = await app().call('POST', '/v1/webhooks', body)
      expect(refused).toMatchObject({ status: 400, body: { error: expect.stringMatching(error) } })
    })

    test('twenty of thirty concurrent creations succeed', async () => {
      const responses = await Promise.all(Array.from({ length: 30 }, () => app().call('POST', '/v1/webhooks', hook)))
      expect(countByStatus(responses)).toEqual({ 201: 20, 409: 10 })
      for (const { status, body } of responses)
        if (status === 201) await app().call('DELETE', `/v1/webhooks/${body.id}`)
    })

    test('a project has at most twenty webhooks', async () => {
      const statuses: number[] = []
      for (let n = 0; n <= 20; n++) statuses.push((await app().call('POST', '/v1/webhooks', hook)).status)
      expect(statuses).toEqual([...Array.from({ length: 20 }, () => 201), 409])
      const first = await app().call('GET', '/v1/webhooks?limit=15')
      const rest = await app().call('GET', `/v1/webhooks?limit=15&cursor=${first.body.next_cursor}`)
      expect([first.body.data.length, rest.body.data.length, rest.body.next_cursor]).toEqual([15, 5, null])
      for (const { id } of [...first.body.data, ...rest.body.data]) await app().call('DELETE', `/v1/webhooks/${id}`)
    })

    test('webhooks of another project return 404, and only admins can change webhooks', async () => {
      const { body } = await app().call('POST', '/v1/webhooks', hook)
      const delivery = `/v1/webhooks/${body.id}/deliveries/dlv_00000000000000000000000000/redeliver`
      // The first account gets the organisation of the key.
      await signUpOwner(app())
      const otherOwner = await signUpOwner(app(), 'other@example.com')
      const operator = (await app().call('POST', '/v1/keys', { name: 'o', role: 'operator' })).body.key
      const calls: [string, string, string][] = [
        ['PUT', `/v1/webhooks/${body.id}`, 'no such webhook'],
        ['DELETE', `/v1/webhooks/${body.id}`, 'no such webhook'],
        ['POST', `/v1/webhooks/${body.id}/rotate`, 'no such webhook'],
        ['POST', delivery, 'no such delivery'],
      ]
      for (const [method, path, error] of calls) {
        const response = await app().call(method, path, undefined, { key: otherOwner })
        expect(response).toMatchObject({ status: 404, body: { error } })
        expect((await app().call(method, path, undefined, { key: operator })).status).toBe(403)
      }
      for (const path of [`/v1/webhooks/${body.id}`, `/v1/webhooks/${body.id}/deliveries`]) {
        expect((await app().call('GET', path, undefined, { key: otherOwner })).status).toBe(404)
        expect((await app().call('GET', path, undefined, { key: operator })).status).toBe(200)
      }
      expect((await app().call('POST', delivery)).body).toEqual({ error: 'no such delivery' })
      expect((await app().call('GET', '/v1/webhooks', undefined, { key: otherOwner })).body.data).toEqual([])
    })
  })
})
