import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, test, vi } from 'vitest'
import { endStreamOnRevocation } from '../../../src/identity/authentication/stream-revocation.ts'
import { StreamResponse } from '../../../src/platform/http/route.ts'
import { anyStore, testApp } from '../../app.ts'
import { eventsUrl, openStream } from '../../work/events/stream-reader.ts'
import { cancelTask, SCRIPTED_AGENT, startScriptedTask } from '../../work/tasks/scripted-agent.ts'
import { auditActions } from './members.ts'

anyStore((store) => {
  test('an API key is shown once, works at once, and stops working when it is deleted', async () => {
    const app = await testApp({ store })
    const created = await app.call('POST', '/v1/keys', { name: 'ci' })
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`/v1/keys/${created.body.id}`)
    const { key, ...view } = created.body
    expect(key).toMatch(/^svc_key_[\w-]{43}$/)
    expect(view).toMatchObject({ name: 'ci', role: 'admin', hint: expect.not.stringContaining(key) })
    expect((await app.call('GET', '/v1/projects', undefined, { key })).status).toBe(200)
    const list = await app.call('GET', '/v1/keys')
    expect(JSON.stringify(list.body)).not.toContain(key)
    expect(list.body.data.map(({ id }: { id: string }) => id)).toContain(created.body.id)
    expect((await app.call('DELETE', `/v1/keys/${created.body.id}`)).status).toBe(204)
    expect((await app.call('GET', '/v1/projects', undefined, { key })).status).toBe(401)
    const deletedAgain = await app.call('DELETE', `/v1/keys/${created.body.id}`)
    expect(deletedAgain).toMatchObject({ status: 404, body: { error: 'no such key' } })
    expect(await auditActions(app, view.project_id)).toEqual(['key.created', 'key.created', 'key.deleted'])
  })

  test('deleting an API key ends its streams, and streams of other keys continue', async () => {
    const app = await testApp({ store, env: SCRIPTED_AGENT })
    const task = await startScriptedTask(app)
    const { id, key } = (await app.call('POST', '/v1/keys', { name: 'leaked', role: 'viewer' })).body
    const leaked = { authorization: `Bearer ${key}` }
    const own = await openStream(`${app.url}/v1/stream`)
    const changes = await openStream(`${app.url}/v1/stream`, leaked)
    const log = await openStream(eventsUrl(app, task), leaked)
    await Promise.all([own, changes].map((reader) => reader.until(({ tail }) => tail.includes('ready'))))
    await log.until(({ tail }) => tail.includes('task.created'))
    expect((await app.call('DELETE', `/v1/keys/${id}`)).status).toBe(204)
    await Promise.all([changes.ended, log.ended])
    await cancelTask(app, task)
    expect(await own.until(({ tail }) => tail.includes('cancelled'))).toContain(task)
    own.close()
  })

  test('a stream does not start if its API key was deleted after the request', async () => {
    const app = await testApp({ store })
    const { id, key, project_id } = (await app.call('POST', '/v1/keys', { name: 'leaked' })).body
    const scope = { actor: { kind: 'key', id }, role: 'admin', orgId: '', projectIds: [project_id] } as const
    let started = false
    const log = new StreamResponse({}, async () => void (started = true))
    const response = endStreamOnRevocation(app.ctx, scope, { headers: { authorization: `Bearer ${key}` } }, log)
    expect((await app.call('DELETE', `/v1/keys/${id}`)).status).toBe(204)
    const out = new ServerResponse(new IncomingMessage(new Socket()))
    await response.write(out)
    expect([started, out.writableEnded]).toEqual([false, true])
  })

  test.each(['operator', 'viewer'] as const)(
    'an API key with role %s can list keys and cannot create them',
    async (role) => {
      const app = await testApp({ store })
      const { key } = (await app.call('POST', '/v1/keys', { name: 'low', role })).body
      expect((await app.call('GET', '/v1/keys', undefined, { key })).status).toBe(200)
      const refused = await app.call('POST', '/v1/keys', { name: 'more' }, { key })
      expect(refused).toMatchObject({ status: 403, body: { error: `role '${role}' cannot do this` } })
    },
  )

  test('an API key cannot have the role owner', async () => {
    const app = await testApp({ store })
    const refused = await app.call('POST', '/v1/keys', { name: 'top', role: 'owner' })
    expect(refused.body).toEqual({ error: "field 'role' must be one of viewer, operator, admin" })
    expect(refused.status).toBe(400)
  })

  test('an API key cannot manage members and projects', async () => {
    const app = await testApp({ store })
    const calls = [
      ['GET', '/v1/members'],
      ['POST', '/v1/members'],
      ['PUT', '/v1/members/mem_x'],
      ['DELETE', '/v1/members/mem_x'],
      ['POST', '/v1/projects'],
    ] as const
    for (const [method, path] of calls) {
      const response = await app.call(method, path)
      expect(response).toMatchObject({ status: 403, body: { error: 'a project key cannot do this' } })
    }
  })

  test('the last use of an API key is recorded at most once a minute', async () => {
    const app = await testApp({ store })
    const lastUsed = async () => (await app.call('GET', '/v1/keys')).body.data[0].last_used_at
    // It is written in the background.
    const first = await vi.waitFor(async () => {
      const at = await lastUsed()
      expect(at).not.toBeNull()
      return at
    })
    await app.clock.advance(59_999)
    for (let n = 0; n < 3; n++) expect(await lastUsed()).toBe(first)
    await app.clock.advance(1)
    await vi.waitFor(async () => expect(Date.parse(await lastUsed()) - Date.parse(first)).toBe(60_000))
  })
})
