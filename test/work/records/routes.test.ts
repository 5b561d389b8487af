import { describe, expect, test } from 'vitest'
import { agentRecords } from '../../../src/work/records/agent-records.ts'
import { putRecord } from '../../../src/work/records/put-record.ts'
import { eachStore, sharedApp, type TestApp } from '../../app.ts'

const record = { wedge: 'echo', collection: 'orders', key: 'o-1', value: { status: 'open', total: { usd: 12.5 } } }

eachStore((store) => {
  const shared = sharedApp({ store })
  const call: TestApp['call'] = (...request) => shared().call(...request)
  const put = (fields: object) => call('POST', '/v1/records', { ...record, ...fields })
  const listKeys = async (query: Record<string, string>) => {
    const { body } = await call('GET', `/v1/records?${String(new URLSearchParams(query))}`)
    return body.data.map((row: { key: string }) => row.key)
  }

  describe('a record', () => {
    test('POST creates a record (201) or replaces the record with the same wedge, collection and key (200)', async () => {
      const first = await put({ key: 'upsert' })
      expect(first.status).toBe(201)
      expect(first.headers.get('location')).toBe(`/v1/records/${first.body.id}`)
      expect(first.body).toMatchObject({ wedge: 'echo', collection: 'orders', key: 'upsert', version: 1 })
      await shared().clock.advance(1000)
      const second = await put({ key: 'upsert', value: 'other' })
      expect(second.status).toBe(200)
      expect(second.body).toMatchObject({ id: first.body.id, version: 2, value: 'other' })
      expect(second.body.created_at).toBe(first.body.created_at)
      expect(second.body.updated_at).not.toBe(first.body.updated_at)
    })

    test('50 concurrent writers create one record, and each write raises its version', async () => {
      const responses = await Promise.all(Array.from({ length: 50 }, (_, n) => put({ key: 'race', value: n })))
      expect(responses.filter(({ status }) => status === 201)).toHaveLength(1)
      expect(responses.map(({ body }) => body.version).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 50 }, (_, n) => n + 1),
      )
    })

    test('a record is read and deleted by its id', async () => {
      const { body } = await put({ key: 'deleted' })
      expect((await call('GET', `/v1/records/${body.id}`)).body).toEqual(body)
      expect((await call('DELETE', `/v1/records/${body.id}`)).status).toBe(204)
      expect((await call('GET', `/v1/records/${body.id}`)).body).toEqual({ error: 'no such record' })
      expect((await call('DELETE', `/v1/records/${body.id}`)).status).toBe(404)
      expect((await put({ key: 'deleted' })).status).toBe(201)
    })

    test('deleting a record deletes its index rows', async () => {
      const { body } = await put({ key: 'indexed' })
      const listFields = () =>
        shared().ctx.db.selectFrom('record_fields').selectAll().where('record_id', '=', body.id).execute()
      expect(await listFields()).toHaveLength(3)
      await call('DELETE', `/v1/records/${body.id}`)
      expect(await listFields()).toEqual([])
    })

    test('a record stores any JSON value unchanged', async () => {
      for (const value of [null, false, 0, '', [], {}, [1, { a: null }], JSON.parse('{"__proto__":{"x":1}}')]) {
        const { body } = await put({ key: 'any', value })
        expect(JSON.stringify((await call('GET', `/v1/records/${body.id}`)).body.value)).toBe(JSON.stringify(value))
      }
    })

    test('a write with a version replaces only that version', async () => {
      expect((await put({ key: 'v', version: 1 })).body).toEqual({ error: 'record does not exist yet', version: 0 })
      expect((await put({ key: 'v', version: 0 })).status).toBe(201)
      expect((await put({ key: 'v', version: 0 })).status).toBe(409)
      expect((await put({ key: 'v', version: 1 })).body.version).toBe(2)
      const outdated = await put({ key: 'v', version: 1 })
      expect(outdated.status).toBe(409)
      expect(outdated.body).toEqual({ error: 'record has version 2', version: 2 })
    })

    test('each write adds an entry to the audit log', async () => {
      const { body } = await put({ key: 'audited' })
      await put({ key: 'audited', value: 2 })
      await call('DELETE', `/v1/records/${body.id}`)
      const entries = await shared()
        .ctx.db.selectFrom('audit_entries')
        .select('action')
        .where('subject', '=', body.id)
        .orderBy('seq')
        .execute()
      expect(entries.map(({ action }) => action)).toEqual(['record.created', 'record.replaced', 'record.deleted'])
    })
  })

  test.each([
    [{ wedge: 'nothing' }, "unknown wedge 'nothing'"],
    [{ wedge: 1 }, "field 'wedge' must be a string"],
    [{ collection: '' }, "field 'collection' must not be empty"],
    [{ collection: 'c'.repeat(101) }, "field 'collection' must have at most 100 characters"],
    [{ key: 'k'.repeat(256) }, "field 'key' must have at most 255 characters"],
    [{ key: 'a\nb' }, "field 'key' must not contain control characters"],
    [{ key: undefined }, "field 'key' is required"],
    [{ value: undefined }, "field 'value' is required"],
    [{ version: -1 }, "field 'version' must be at least 0"],
  ])('a record with %j is refused with 400', async (fields, error) => {
    expect(await put(fields)).toMatchObject({ status: 400, body: { error } })
  })

  test('a record of a wedge that the project has not enabled is refused with 403', async () => {
    const { body: projects } = await call('GET', '/v1/projects')
    const path = `/v1/projects/${projects.data[0].id}`
    await call('PUT', path, { wedges: [] })
    expect((await put({})).status).toBe(403)
    await call('PUT', path, { wedges: null })
  })

  describe('a list of records', () => {
    test('GET lists records newest first, in pages, filtered by wedge, collection and key', async () => {
      for (let n = 0; n < 5; n++) {
        await shared().clock.advance(1)
        await put({ collection: 'paged', key: `k${n}` })
      }
      expect(await listKeys({ wedge: 'echo', collection: 'paged' })).toEqual(['k4', 'k3', 'k2', 'k1', 'k0'])
      expect(await listKeys({ collection: 'paged', key: 'k3' })).toEqual(['k3'])
      expect(await listKeys({ wedge: 'other', collection: 'paged' })).toEqual([])
      const first = await call('GET', '/v1/records?collection=paged&limit=2')
      expect(first.body.data).toHaveLength(2)
      const second = await call('GET', `/v1/records?collection=paged&limit=3&cursor=${first.body.next_cursor}`)
      expect(second.body.data.map((row: { key: string }) => row.key)).toEqual(['k2', 'k1', 'k0'])
      expect(second.body.next_cursor).toBe(null)
    })

    test('`where` filters records by fields of their values, with dotted paths and operators', async () => {
      await put({ collection: 'filtered', key: 'a', value: { status: 'open', total: { usd: 5 } } })
      await put({ collection: 'filtered', key: 'b', value: { status: 'closed', total: { usd: 10 }, note: null } })
      await put({ collection: 'filtered', key: 'c', value: 'open' })
      const where = async (json: object) =>
        (await listKeys({ collection: 'filtered', where: JSON.stringify(json) })).toSorted()
      expect(await where({})).toEqual(['a', 'b', 'c'])
      expect(await where({ status: 'open' })).toEqual(['a'])
      expect(await where({ 'total.usd': { $gt: 5 } })).toEqual(['b'])
      expect(await where({ 'total.usd': { $gte: 5, $lt: 10 } })).toEqual(['a'])
      expect(await where({ status: { $ne: 'open' } })).toEqual(['b', 'c'])
      expect(await where({ status: { $in: ['open', 'closed'] }, 'total.usd': { $lte: 10 } })).toEqual(['a', 'b'])
      expect(await where({ status: { $in: [] } })).toEqual([])
      expect(await where({ note: { $exists: true } })).toEqual(['b'])
      expect(await where({ note: null })).toEqual(['b'])
      expect(await where({ total: { $exists: true } })).toEqual(['a', 'b'])
      expect(await listKeys({ key: 'b', collection: 'filtered', where: '{"status":"closed"}' })).toEqual(['b'])
    })

    test.each([
      ['{', "query 'where' must be json"],
      ['[]', 'where must be a json object'],
      [
        '{"a":{"$regex":"x"}}',
        "where: 'a' has an unknown operator; known are $gt, $gte, $lt, $lte, $ne, $in and $exists",
      ],
      ['{"a\') or 1=1 --":1}', 'where: a path must consist of letters, digits, _ and -, joined by dots'],
    ])('the query where=%s is refused with 400', async (where, error) => {
      expect(await call('GET', `/v1/records?${String(new URLSearchParams({ where }))}`)).toMatchObject({
        status: 400,
        body: { error },
      })
    })

    test('text in a filter is a value and never SQL', async () => {
      await put({ collection: 'quoted', key: 'q', value: { name: "o'neil; drop table records; --" } })
      const where = JSON.stringify({ name: "o'neil; drop table records; --" })
      expect(await listKeys({ collection: 'quoted', where })).toEqual(['q'])
      expect(await listKeys({ collection: "quoted' or '1'='1", where: '{}' })).toEqual([])
    })
  })

  test('an agent can use the records of its wedge and project only', async () => {
    const { ctx } = shared()
    const { body: projects } = await call('GET', '/v1/projects')
    const actor = { kind: 'task', id: 'task_1' } as const
    const scope = { projectId: projects.data[0].id, wedge: 'echo', actor }
    const { record: own, isNew } = await agentRecords.put(ctx, scope, 'notes', 'n', { value: { mood: 'good' } })
    expect(isNew).toBe(true)
    expect(await agentRecords.get(ctx, scope, 'notes', 'n')).toEqual(own)
    const query = { limit: 10, where: '{"mood":"good"}' }
    expect((await agentRecords.list(ctx, scope, 'notes', query)).data).toEqual([own])
    for (const otherScope of [
      { ...scope, wedge: 'other' },
      { ...scope, projectId: 'prj_other' },
    ]) {
      await expect(agentRecords.get(ctx, otherScope, 'notes', 'n')).rejects.toThrow('no such record')
      expect((await agentRecords.list(ctx, otherScope, 'notes', query)).data).toEqual([])
      await expect(agentRecords.delete(ctx, otherScope, 'notes', 'n')).rejects.toThrow('no such record')
    }
    await agentRecords.delete(ctx, scope, 'notes', 'n')
    await expect(agentRecords.get(ctx, scope, 'notes', 'n')).rejects.toThrow('no such record')
    await expect(agentRecords.get(ctx, scope, 'notes', '\0')).rejects.toThrow(
      'record key must have 1 to 255 characters and no control characters',
    )
  })

  test('a record of another project is 404 and in no list', async () => {
    const actor = { kind: 'system', id: 'test' } as const
    const { record: foreign } = await putRecord(shared().ctx, 'prj_other', { ...record, collection: 'foreign' }, actor)
    expect((await call('GET', `/v1/records/${foreign.id}`)).status).toBe(404)
    expect((await call('DELETE', `/v1/records/${foreign.id}`)).status).toBe(404)
    expect(await listKeys({ collection: 'foreign' })).toEqual([])
    expect(await listKeys({ collection: 'foreign', where: '{"status":"open"}' })).toEqual([])
  })

  test('a viewer can read records but not change them', async () => {
    const { body: viewer } = await call('POST', '/v1/keys', { name: 'reader', role: 'viewer' })
    const { body } = await put({ key: 'seen' })
    expect((await call('GET', `/v1/records/${body.id}`, undefined, { key: viewer.key })).status).toBe(200)
    expect((await call('DELETE', `/v1/records/${body.id}`, undefined, { key: viewer.key })).status).toBe(403)
    expect((await call('POST', '/v1/records', record, { key: viewer.key })).status).toBe(403)
  })
})
