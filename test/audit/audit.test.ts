import { describe, expect, test } from 'vitest'
import { appendAuditEntry } from '../../src/audit/append.ts'
import { signDueCheckpoints } from '../../src/audit/sign-checkpoints.ts'
import { verifyAuditExport } from '../../src/platform/contract/audit/audit-export.ts'
import { inTx } from '../../src/platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../src/platform/ctx/scope.ts'
import { anyStore, eachStore, type TestApp, type TestAppOptions, testApp } from '../app.ts'
import type { StoreKind } from '../stores.ts'
import { contextLater, exportLines } from './chain-fixtures.ts'

const SECRET_KEY = Buffer.alloc(32, 7).toString('base64')

/** The project's chain has twelve entries besides those that the start wrote. */
async function appWithEntries(store: StoreKind, options: Partial<TestAppOptions> = {}): Promise<TestApp> {
  const app = await testApp({ store, env: { SVC_SECRET_KEY: SECRET_KEY }, ...options })
  await addKnowledge(app, 0)
  // The clock stands still, so a signed chain is not due again and the background loop signs nothing more.
  await signDueCheckpoints(app.ctx)
  for (let n = 1; n < 12; n++) await addKnowledge(app, n)
  return app
}

anyStore((store) => {
  describe('the audit log of a project', () => {
    test('audit entries are listed newest first, in pages, and can be filtered', async () => {
      const app = await appWithEntries(store)
      const first = await app.call('GET', '/v1/audit?limit=5')
      expect(first.status).toBe(200)
      const [newest] = first.body.data
      expect(newest).toMatchObject({ action: 'knowledge.created', actor: { kind: 'key' }, data: expect.any(Object) })
      const seqs = first.body.data.map(({ seq }: { seq: number }) => seq)
      expect(seqs).toEqual([0, 1, 2, 3, 4].map((n) => newest.seq - n))
      const second = await app.call('GET', `/v1/audit?limit=5&cursor=${first.body.next_cursor}`)
      expect(second.body.data[0].hash).toBe(first.body.data[4].prev_hash)
      const ranged = await app.call('GET', '/v1/audit?from_seq=2&to_seq=4')
      expect(ranged.body.data.map(({ seq }: { seq: number }) => seq)).toEqual([4, 3, 2])
      const one = await app.call('GET', `/v1/audit?subject=${newest.subject}&action=knowledge.created`)
      expect(one.body.data).toEqual([newest])
      expect((await app.call('GET', '/v1/audit?action=nothing.happened')).body).toEqual({ data: [], next_cursor: null })
      expect((await app.call('GET', '/v1/audit?cursor=x')).status).toBe(400)
      expect((await app.call('GET', '/v1/audit?chain=all')).status).toBe(400)
    })

    test('verification returns the number of entries and the hash of the newest', async () => {
      const app = await appWithEntries(store)
      const [newest] = (await app.call('GET', '/v1/audit?limit=1')).body.data
      expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({
        ok: true,
        entries: newest.seq,
        head: newest.hash,
        first_bad_seq: null,
      })
    })

    test('a caller with several projects must name one, and only admins read the chain of the organisation', async () => {
      const app = await testApp({ store, env: { SVC_OPEN_SIGNUP: '1' } })
      expect((await app.call('GET', '/v1/audit?chain=organisation')).status).toBe(403)
      const person = { email: 'owner@example.com', password: 'correct horse battery' }
      const { body } = await app.call('POST', '/v1/auth/signup', person)
      const key = body.session_token
      expect((await app.call('GET', '/v1/audit', undefined, { key })).status).toBe(200)
      const added = await app.call('POST', '/v1/projects', { name: 'Second' }, { key })
      expect(added.status).toBe(201)
      const several = await app.call('GET', '/v1/audit', undefined, { key })
      expect(several).toMatchObject({ status: 400, body: { error: "header 'x-svc-project' is required" } })
      const headers = { 'x-svc-project': added.body.id }
      expect((await app.call('GET', '/v1/audit/verify', undefined, { key, headers })).body.ok).toBe(true)
      const whole = await app.call('GET', '/v1/audit?chain=organisation', undefined, { key })
      expect(whole.body.data.length).toBeGreaterThan(0)
      expect((await app.call('GET', '/v1/audit/verify?chain=organisation', undefined, { key })).body.ok).toBe(true)
    })
  })

  describe('verification detects a change in the database', () => {
    test.each([
      ['an edited entry', { set: { subject: 'task_other' } }],
      ['data edited to an equal value', { set: { data: '{ }' } }],
      ['an edited time', { set: { ts: '2026-01-01T00:00:00.000Z' } }],
      ['a separator in a field', { set: { action: 'a\x1fb' } }],
      ['a separator in the data', { set: { data: '{}\x1f' } }],
      ['a deleted entry', null],
    ])('verification detects %s', async (_, change) => {
      const app = await appWithEntries(store)
      const { db } = app.ctx
      if (change) await db.updateTable('audit_entries').set(change.set).where('seq', '=', 5).execute()
      else await db.deleteFrom('audit_entries').where('seq', '=', 5).execute()
      expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: false, first_bad_seq: 5 })
    })

    test('verification detects a field that was replaced by its escaped form', async () => {
      const app = await appWithEntries(store)
      const { db } = app.ctx
      const { chain, seq } = await db
        .selectFrom('audit_entries')
        .select(['chain', 'seq'])
        .orderBy('seq', 'desc')
        .executeTakeFirstOrThrow()
      const subject = 'a "quoted" \\ thing\n'
      await inTx(app.ctx, (tx) => appendAuditEntry(tx, chain, { kind: 'key', id: 'ä' }, 'thing.noted', subject))
      expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true, entries: seq + 1 })
      const escaped = JSON.stringify(subject).slice(1, -1)
      await db.updateTable('audit_entries').set({ subject: escaped }).where('subject', '=', subject).execute()
      expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: false, first_bad_seq: seq + 1 })
    })

    test('verification detects swapped, inserted and appended entries', async () => {
      const app = await appWithEntries(store)
      const { db } = app.ctx
      const move = (from: number, to: number) =>
        db.updateTable('audit_entries').set({ seq: to }).where('seq', '=', from).execute()
      const verdict = async () => (await app.call('GET', '/v1/audit/verify')).body
      for (const [from, to] of [
        [5, 900],
        [6, 5],
        [900, 6],
      ] as const)
        await move(from, to)
      expect(await verdict()).toMatchObject({ ok: false, first_bad_seq: 5 })
      for (const [from, to] of [
        [5, 900],
        [6, 5],
        [900, 6],
      ] as const)
        await move(from, to)
      expect(await verdict()).toMatchObject({ ok: true })
      const last = await db.selectFrom('audit_entries').selectAll().orderBy('seq', 'desc').executeTakeFirstOrThrow()
      await db
        .insertInto('audit_entries')
        .values({ ...last, seq: last.seq + 1, prev_hash: last.hash })
        .execute()
      expect(await verdict()).toMatchObject({ ok: false, first_bad_seq: last.seq + 1 })
    })

    test('verification detects a truncated chain, also if the head was changed to match', async () => {
      const app = await appWithEntries(store)
      const { db } = app.ctx
      expect(await signDueCheckpoints(contextLater(app, 5))).toBeGreaterThan(0)
      const { chain } = await db
        .selectFrom('audit_entries')
        .select('chain')
        .where('seq', '=', 12)
        .executeTakeFirstOrThrow()
      await db.deleteFrom('audit_entries').where('chain', '=', chain).where('seq', '>', 8).execute()
      expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: false, first_bad_seq: 9 })
      const entries = db.selectFrom('audit_entries').select('hash').where('chain', '=', chain)
      const { hash } = await entries.where('seq', '=', 8).executeTakeFirstOrThrow()
      await db.updateTable('audit_heads').set({ seq: 8, hash }).where('chain', '=', chain).execute()
      expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: false, first_bad_seq: 9 })
    })
  })

  describe('checkpoints', () => {
    test('a checkpoint is signed after 100 entries, or after five minutes if there is a new entry', async () => {
      const app = await appWithEntries(store)
      expect(await signDueCheckpoints(contextLater(app, 5))).toBeGreaterThan(0)
      expect(await signDueCheckpoints(contextLater(app, 10))).toBe(0)
      await addKnowledge(app, 1)
      expect(await signDueCheckpoints(contextLater(app, 9))).toBe(0)
      expect(await signDueCheckpoints(contextLater(app, 10))).toBe(1)
      const { body } = await app.call('GET', '/v1/audit/verify')
      expect(body).toMatchObject({ ok: true, anchored_to: body.entries, checkpoints: { not_verifiable: 0 } })
      expect(body.checkpoints.signed).toBeGreaterThanOrEqual(2)
      for (let n = 0; n < 100; n++) await addKnowledge(app, n)
      expect(await signDueCheckpoints(contextLater(app, 10))).toBe(1)
      expect(app.logged.some((line) => line.includes('"audit checkpoint"'))).toBe(true)
    })

    test('checkpoints are signed normally after a clock that was ahead is corrected', async () => {
      const app = await appWithEntries(store)
      expect(await signDueCheckpoints(contextLater(app, 24 * 60))).toBeGreaterThan(0)
      await addKnowledge(app, 1)
      expect(await signDueCheckpoints(app.ctx)).toBe(1)
      await addKnowledge(app, 1)
      expect(await signDueCheckpoints(contextLater(app, 4))).toBe(0)
      expect(await signDueCheckpoints(contextLater(app, 5))).toBe(1)
      const { body } = await app.call('GET', '/v1/audit/verify')
      expect(body).toMatchObject({ ok: true, anchored_to: body.entries })
    })

    test('no checkpoint is signed for a broken chain, and the fault is logged once', async () => {
      const app = await appWithEntries(store)
      await app.ctx.db.updateTable('audit_entries').set({ subject: 'x' }).where('seq', '=', 9).execute()
      const loggedFaults = new Map<string, string>()
      for (const minutes of [5, 6, 7]) await signDueCheckpoints(contextLater(app, minutes), loggedFaults)
      const { first_bad_seq, anchored_to } = (await app.call('GET', '/v1/audit/verify')).body
      expect(first_bad_seq).toBe(9)
      expect(anchored_to ?? 0).toBeLessThan(9)
      expect(app.logged.filter((line) => line.includes('audit chain is broken'))).toHaveLength(1)
    })
  })

  test('an export contains every entry and checkpoint and can be verified without the service', async () => {
    const app = await appWithEntries(store)
    await signDueCheckpoints(contextLater(app, 5))
    await addKnowledge(app, 13)
    const { body, headers } = await app.call('GET', '/v1/audit/export')
    expect(headers.get('content-type')).toContain('jsonl')
    const lines = String(body).split('\n')
    const { entries } = (await app.call('GET', '/v1/audit/verify')).body
    const isEntry = (line: string) => line.includes('"kind":"entry"')
    expect(lines.filter(isEntry)).toHaveLength(entries)
    expect(lines.filter((line) => line.includes('"kind":"checkpoint"')).length).toBeGreaterThanOrEqual(2)
    expect(await verifyAuditExport(exportLines(lines))).toMatchObject({ ok: true, entries, anchored_to: entries })
    const end = lines.findLastIndex((line) => line.includes('"kind":"checkpoint"'))
    const { seq, hash } = JSON.parse(lines[end] ?? '')
    const header = JSON.stringify({ ...JSON.parse(lines[0] ?? ''), head: { seq, hash } })
    expect(await verifyAuditExport(exportLines([header, ...lines.slice(1, end + 1)]))).toMatchObject({
      ok: false,
      problem: 'the end is not signed, so entries may have been removed or rewritten',
    })
    const fourth = lines.filter(isEntry)[3]
    expect(await verifyAuditExport(exportLines(lines.filter((line) => line !== fourth)))).toMatchObject({
      ok: false,
      first_bad_seq: 4,
    })
  })

  test('an export has one line for each entry, also if its data contains unicode line separators', async () => {
    const app = await appWithEntries(store)
    const { id: chain } = (await app.call('GET', '/v1/projects')).body.data[0]
    const odd = 'a\u2028b\u2029c'
    await inTx(app.ctx, (tx) => appendAuditEntry(tx, chain, SYSTEM_ACTOR, 'thing.noted', odd, { odd }))
    const { body } = await app.call('GET', '/v1/audit/export')
    expect(String(body)).not.toMatch(/[\u2028\u2029]/)
    const lines = String(body).split('\n')
    expect(JSON.parse(lines.find((line) => line.includes('a\\u2028b')) ?? '')).toMatchObject({
      subject: odd,
      data: { odd },
    })
    expect(await verifyAuditExport(exportLines(lines))).toMatchObject({ ok: true })
  })

  test('an export of an empty chain can be verified too', async () => {
    const app = await testApp({ store, env: { SVC_OPEN_SIGNUP: '1' } })
    const person = { email: 'owner@example.com', password: 'correct horse battery' }
    const key = (await app.call('POST', '/v1/auth/signup', person)).body.session_token
    const { id } = (await app.call('POST', '/v1/projects', { name: 'Quiet' }, { key })).body
    const exported = await app.call('GET', '/v1/audit/export', undefined, { key, headers: { 'x-svc-project': id } })
    const verdict = await verifyAuditExport(exportLines(String(exported.body).split('\n')))
    expect(verdict).toMatchObject({ ok: true, chain: id, entries: 0, head: null })
  })
})

eachStore((store) => {
  describe('the audit log of a project', () => {
    test('concurrent writers keep the chain complete, and failed transactions add no entry', async () => {
      const app = await appWithEntries(store)
      const { id: chain } = (await app.call('GET', '/v1/projects')).body.data[0]
      const before = (await app.call('GET', '/v1/audit/verify')).body.entries
      const add = (n: number) =>
        inTx(
          app.ctx,
          async (tx) => {
            for (const part of ['a', 'b']) await appendAuditEntry(tx, chain, SYSTEM_ACTOR, 'thing.noted', `${part}${n}`)
            if (n % 4 === 3) throw new Error('too late')
          },
          n % 2 === 0 ? 'group' : undefined,
        )
      const settled = await Promise.allSettled(Array.from({ length: 16 }, (_, n) => add(n)))
      expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(4)
      expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true, entries: before + 24 })
      await inTx(app.ctx, (tx) => appendAuditEntry(tx, chain, SYSTEM_ACTOR, 'thing.noted', 'after'))
      expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true, entries: before + 25 })
    })
  })
})

async function addKnowledge(app: TestApp, n: number): Promise<void> {
  const response = await app.call('POST', '/v1/wedges/echo/knowledge', { name: `note ${n}`, content: 'something' })
  expect(response.status).toBe(201)
}
