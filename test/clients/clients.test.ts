import { expect, test } from 'vitest'
import { anyStore } from '../app.ts'
import { auditLines, createAndGetId, openChannelApp } from '../customers/channels/channel-app.ts'

anyStore((store) => {
  test('a blank name is stored as null, on creation and on change', async () => {
    const app = await openChannelApp(store)
    const made = await app.call('POST', '/v1/clients', { display_name: ' ' })
    expect(made).toMatchObject({ status: 201, body: { display_name: null } })
    const path = `/v1/clients/${made.body.id}`
    expect((await app.call('PUT', path, { display_name: 'Ada' })).body.display_name).toBe('Ada')
    expect((await app.call('PUT', path, { display_name: ' ' })).body.display_name).toBeNull()
    expect((await app.call('GET', path)).body.display_name).toBeNull()
  })

  test('a client is created, read, listed and changed', async () => {
    const app = await openChannelApp(store)
    const response = await app.call('POST', '/v1/clients', {
      display_name: 'Ada',
      handles: ['Ada@Example.com', ' +49 30 1234 ', 'ada@example.com'],
      metadata: { plan: 'gold' },
    })
    expect(response.status).toBe(201)
    expect(response.body).toMatchObject({ display_name: 'Ada', metadata: { plan: 'gold' } })
    expect(response.body.handles).toEqual(['+49 30 1234', 'ada@example.com'])
    const path = `/v1/clients/${response.body.id}`
    expect(response.headers.get('location')).toBe(path)
    expect((await app.call('GET', path)).body).toEqual(response.body)
    await app.clock.advance(1000)
    const changed = await app.call('PUT', path, { handles: ['ada@new.example'] })
    expect(changed.body).toMatchObject({
      display_name: 'Ada',
      handles: ['ada@new.example'],
      metadata: { plan: 'gold' },
    })
    expect(changed.body.updated_at > response.body.updated_at).toBe(true)
    const renamed = await app.call('PUT', path, { display_name: null, metadata: {} })
    expect(renamed.body).toMatchObject({ display_name: null, handles: ['ada@new.example'], metadata: {} })
    expect((await app.call('GET', '/v1/clients')).body.data).toEqual([renamed.body])
    expect((await auditLines(app)).slice(1)).toEqual(['key client.created', 'key client.updated', 'key client.updated'])
  })

  test('a handle belongs to one client of a project, regardless of case', async () => {
    const app = await openChannelApp(store)
    const ada = await createAndGetId(app, '/v1/clients', { handles: ['ada@example.com', 'ada'] })
    const bob = await createAndGetId(app, '/v1/clients', { handles: ['bob'] })
    const refused = await app.call('POST', '/v1/clients', { handles: ['eve', 'ADA'] })
    expect(refused.status).toBe(409)
    expect(refused.body).toEqual({ error: "handle 'ADA' is already in use" })
    expect((await app.call('PUT', `/v1/clients/${bob}`, { handles: ['Ada'] })).status).toBe(409)
    expect((await app.call('GET', `/v1/clients/${bob}`)).body.handles).toEqual(['bob'])
    expect((await app.call('GET', '/v1/clients?handle=EVE')).body.data).toEqual([])
    const [found, ...others] = (await app.call('GET', '/v1/clients?handle=Ada@Example.com')).body.data
    expect([found.id, others]).toEqual([ada, []])
    expect((await app.call('PUT', `/v1/clients/${ada}`, { handles: [] })).body.handles).toEqual([])
    expect((await app.call('PUT', `/v1/clients/${bob}`, { handles: ['ADA', 'bob'] })).status).toBe(200)
  })

  test('one of twenty concurrent clients gets the handle', async () => {
    const app = await openChannelApp(store)
    const body = { handles: ['ada@example.com', 'ada'] }
    const responses = await Promise.all(Array.from({ length: 20 }, () => app.call('POST', '/v1/clients', body)))
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(19)
    expect((await app.call('GET', '/v1/clients')).body.data).toHaveLength(1)
  })

  test('a field of a wrong type returns 400 and the error names the field', async () => {
    const app = await openChannelApp(store)
    const errorOf = async (body: object) => (await app.call('POST', '/v1/clients', body)).body.error
    expect(await errorOf({ display_name: 7 })).toBe("field 'display_name' must be a string")
    expect(await errorOf({ handles: 'ada' })).toBe("field 'handles' must be a list")
    expect(await errorOf({ handles: [' '] })).toBe("field 'handles.0' must not be empty")
    expect(await errorOf({ metadata: [] })).toBe("field 'metadata' must be an object")
    expect((await app.call('GET', '/v1/clients/cli_none')).body).toEqual({ error: 'no such client' })
  })
})
