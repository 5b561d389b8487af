import { describe, expect, test } from 'vitest'
import { agentRecords } from '../../src/records/agent-records.ts'
import { putRecord } from '../../src/records/put-record.ts'
import { eachStore, sharedApp, type TestApp } from '../app.ts'

const record = { wedge: 'echo', collection: 'orders', key: 'o-1', value: { status: 'open', total: { usd: 12.5 } } }

eachStore((store) => {
  const shared = sharedApp({ store })
  const call: TestApp['call'] = (...request) => shared().call(...request)
  const put = (fields: object) => call('POST', '/v1/records', { ...record, ...fields })
  const found = async (query: Record<string, string>) => {
    const { body } = await call('GET', `/v1/records?${String(new URLSearchParams(query))}`)
    return body.data.map((row: { key: string }) => row.key)
  }

  describe('a record', () => {
    test('is upserted on wedge, collection and key: 201 when new, 200 when replaced', async () => {
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

    test('is made once by fifty simultaneous writers, and each of them counts', async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => put({ key: 'race', value: n })))
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
      expect(answers.map(({ body }) => body.version).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 50 }, (_, n) => n + 1),
      )
    })

    test('is read and deleted by its id', async () => {
      const { body } = await put({ key: 'gone' })
      expect((await call('GET', `/v1/records/${body.id}`)).body).toEqual(body)
      expect((await call('DELETE', `/v1/records/${body.id}`)).status).toBe(204)
      expect((await call('GET', `/v1/records/${body.id}`)).body).toEqual({ error: 'no such record' })
      expect((await call('DELETE', `/v1/records/${body.id}`)).status).toBe(404)
      expect((await put({ key: 'gone' })).status).toBe(201)
    })

    test('leaves nothing in the index when it is deleted', async () => {
      const { body } = await put({ key: 'forgotten' })
      const rowsIn = (table: 'record_fields' | 'record_columns') =>
        shared().ctx.db.selectFrom(table).selectAll().where('record_id', '=', body.id).execute()
      expect(await rowsIn('record_fields')).toHaveLength(3)
      expect(await rowsIn('record_columns')).toHaveLength(1)
      await call('DELETE', `/v1/records/${body.id}`)
      expect(await rowsIn('record_fields')).toEqual([])
      expect(await rowsIn('record_columns')).toEqual([])
    })

    test('keeps any json value as it was', async () => {
      for (const value of [null, false, 0, '', [], {}, [1, { a: null }], JSON.parse('{"__proto__":{"x":1}}')]) {
        const { body } = await put({ key: 'any', value })
        expect(JSON.stringify((await call('GET', `/v1/records/${body.id}`)).body.value)).toBe(JSON.stringify(value))
      }
    })

    test('with a version replaces only that version', async () => {
      expect((await put({ key: 'v', version: 1 })).body).toEqual({ error: 'record does not exist yet', version: 0 })
      expect((await put({ key: 'v', version: 0 })).status).toBe(201)
      expect((await put({ key: 'v', version: 0 })).status).toBe(409)
      expect((await put({ key: 'v', version: 1 })).body.version).toBe(2)
      const late = await put({ key: 'v', version: 1 })
      expect(late.status).toBe(409)
      expect(late.body).toEqual({ error: 'record has version 2', version: 2 })
    })

    test('leaves a line in the audit for each write', async () => {
      const { body } = await put({ key: 'audited' })
      await put({ key: 'audited', value: 2 })
      await call('DELETE', `/v1/records/${body.id}`)
      const lines = await shared()
        .ctx.db.selectFrom('audit_entries')
        .select('action')
        .where('subject', '=', body.id)
        .orderBy('seq')
        .execute()
      expect(lines.map(({ action }) => action)).toEqual(['record.created', 'record.replaced', 'record.deleted'])
    })
  })

  test.each([
    [{ wedge: 'nothing' }, "unknown wedge 'nothing'"],
    [{ wedge: 1 }, "field 'wedge' must be a string"],
    [{ collection: '' }, "field 'collection' must have at least 1 characters"],
    [{ collection: 'c'.repeat(101) }, "field 'collection' must have at most 100 characters"],
    [{ key: 'k'.repeat(256) }, "field 'key' must have at most 255 characters"],
    [{ key: 'a\nb' }, "field 'key' must not contain control characters"],
    [{ key: undefined }, "field 'key' is required"],
    [{ value: undefined }, "field 'value' is required"],
    [{ version: -1 }, "field 'version' must be at least 0"],
  ])('refuses %j', async (fields, error) => {
    expect(await put(fields)).toMatchObject({ status: 400, body: { error } })
  })

  test('a wedge that the project has not enabled takes no records', async () => {
    const { body: projects } = await call('GET', '/v1/projects')
    const path = `/v1/projects/${projects.data[0].id}`
    await call('PUT', path, { wedges: [] })
    expect((await put({})).status).toBe(403)
    await call('PUT', path, { wedges: null })
  })

  describe('a list of records', () => {
    test('is newest first, in pages, narrowed by wedge, collection and key', async () => {
      for (let n = 0; n < 5; n++) {
        await shared().clock.advance(1)
        await put({ collection: 'paged', key: `k${n}` })
      }
      expect(await found({ wedge: 'echo', collection: 'paged' })).toEqual(['k4', 'k3', 'k2', 'k1', 'k0'])
      expect(await found({ collection: 'paged', key: 'k3' })).toEqual(['k3'])
      expect(await found({ wedge: 'other', collection: 'paged' })).toEqual([])
      const first = await call('GET', '/v1/records?collection=paged&limit=2')
      expect(first.body.data).toHaveLength(2)
      const second = await call('GET', `/v1/records?collection=paged&limit=3&cursor=${first.body.next_cursor}`)
      expect(second.body.data.map((row: { key: string }) => row.key)).toEqual(['k2', 'k1', 'k0'])
      expect(second.body.next_cursor).toBe(null)
    })

    test('is filtered by fields of the values, with dotted paths and operators', async () => {
      await put({ collection: 'filtered', key: 'a', value: { status: 'open', total: { usd: 5 } } })
      await put({ collection: 'filtered', key: 'b', value: { status: 'closed', total: { usd: 10 }, note: null } })
      await put({ collection: 'filtered', key: 'c', value: 'open' })
      const where = async (json: object) =>
        (await found({ collection: 'filtered', where: JSON.stringify(json) })).toSorted()
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
      expect(await found({ key: 'b', collection: 'filtered', where: '{"status":"closed"}' })).toEqual(['b'])
    })

    test.each([
      ['{', "query 'where' must be json"],
      ['[]', 'where must be a json object'],
      [
        '{"a":{"$regex":"x"}}',
        "where: 'a' has an unknown operator; known are $gt, $gte, $lt, $lte, $ne, $in and $exists",
      ],
      ['{"a\') or 1=1 --":1}', 'where: a path must consist of letters, digits, _ and -, joined by dots'],
    ])('refuses where=%s', async (where, error) => {
      expect(await call('GET', `/v1/records?${String(new URLSearchParams({ where }))}`)).toMatchObject({
        status: 400,
        body: { error },
      })
    })

    test('takes every text in a filter for a value and never for sql', async () => {
      await put({ collection: 'quoted', key: 'q', value: { name: "o'neil; drop table records; --" } })
      const where = JSON.stringify({ name: "o'neil; drop table records; --" })
      expect(await found({ collection: 'quoted', where })).toEqual(['q'])
      expect(await found({ collection: "quoted' or '1'='1", where: '{}' })).toEqual([])
    })
  })

  test('an agent reaches the records of its wedge and no others', async () => {
    const { ctx } = shared()
    const { body: projects } = await call('GET', '/v1/projects')
    const actor = { kind: 'task', id: 'task_1' } as const
    const place = { projectId: projects.data[0].id, wedge: 'echo', actor }
    const { record: own, isNew } = await agentRecords.put(ctx, place, 'notes', 'n', { value: { mood: 'good' } })
    expect(isNew).toBe(true)
    expect(await agentRecords.get(ctx, place, 'notes', 'n')).toEqual(own)
    const query = { limit: 10, where: '{"mood":"good"}' }
    expect((await agentRecords.list(ctx, place, 'notes', query)).data).toEqual([own])
    for (const elsewhere of [
      { ...place, wedge: 'other' },
      { ...place, projectId: 'prj_other' },
    ]) {
      await expect(agentRecords.get(ctx, elsewhere, 'notes', 'n')).rejects.toThrow('no such record')
      expect((await agentRecords.list(ctx, elsewhere, 'notes', query)).data).toEqual([])
      await expect(agentRecords.delete(ctx, elsewhere, 'notes', 'n')).rejects.toThrow('no such record')
    }
    await agentRecords.delete(ctx, place, 'notes', 'n')
    await expect(agentRecords.get(ctx, place, 'notes', 'n')).rejects.toThrow('no such record')
    await expect(agentRecords.get(ctx, place, 'notes', '\0')).rejects.toThrow(
      'record key must have 1 to 255 characters and no control characters',
    )
  })

  test('a record of another project does not exist', async () => {
    const actor = { kind: 'system', id: 'test' } as const
    const { record: foreign } = await putRecord(shared().ctx, 'prj_other', { ...record, collection: 'foreign' }, actor)
    expect((await call('GET', `/v1/records/${foreign.id}`)).status).toBe(404)
    expect((await call('DELETE', `/v1/records/${foreign.id}`)).status).toBe(404)
    expect(await found({ collection: 'foreign' })).toEqual([])
    expect(await found({ collection: 'foreign', where: '{"status":"open"}' })).toEqual([])
  })

  test('a viewer reads records and changes none', async () => {
    const { body: viewer } = await call('POST', '/v1/keys', { name: 'reader', role: 'viewer' })
    const { body } = await put({ key: 'seen' })
    expect((await call('GET', `/v1/records/${body.id}`, undefined, { key: viewer.key })).status).toBe(200)
    expect((await call('DELETE', `/v1/records/${body.id}`, undefined, { key: viewer.key })).status).toBe(403)
    expect((await call('POST', '/v1/records', record, { key: viewer.key })).status).toBe(403)
  })
})
