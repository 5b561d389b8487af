import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { startApp } from '../../src/server/app.ts'
import { appendAuditEntry } from '../../src/audit/append.ts'
import { signDueCheckpoints } from '../../src/audit/sign-checkpoints.ts'
import { adoptChains } from '../../src/audit/reseal-heads.ts'
import { verifyStoredChain } from '../../src/audit/verify.ts'
import { entryHash } from '../../src/platform/contract/audit/audit-chain.ts'
import { verifyAuditExport } from '../../src/platform/contract/audit/audit-export.ts'
import { rotateSecretKey } from '../../src/identity/vault/rotate-key.ts'
import { createVault } from '../../src/identity/vault/vault.ts'
import { type Ctx, inTx } from '../../src/platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../src/platform/ctx/scope.ts'
import { anyStore, type TestApp, testApp } from '../app.ts'
import type { StoreKind } from '../stores.ts'
import { contextLater, exportLines } from './chain-fixtures.ts'

const SECRET_KEY = Buffer.alloc(32, 7)
const CHANGED = 'the head of the chain was changed outside the service'
const ADOPT_HINT =
  'after an upgrade or a change of SVC_SECRET_KEY run `./svc audit adopt`; otherwise the database was changed outside the service'
const MISSING = `the head of the chain is missing: ${ADOPT_HINT}`
const UNSEALED = `the head of the chain has no seal: ${ADOPT_HINT}`
const FOREIGN = `the head of the chain was sealed with another key: ${ADOPT_HINT}`
const ANOTHER_SEAL = `${'0'.repeat(16)}.1.${'0'.repeat(64)}`

anyStore((store) => {
  describe('a change by a person with the database but without the key', () => {
    test('truncating entries and checkpoints and changing the head is detected', async () => {
      const { app, ctx, chain } = await signedChain(store)
      await truncateTo(ctx, chain, 4)
      await ctx.db.deleteFrom('audit_checkpoints').where('chain', '=', chain).where('seq', '>', 4).execute()
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: false, problem: CHANGED, sealed_from: null })
      const { body } = await app.call('GET', '/v1/audit/verify')
      expect(body).toMatchObject({ ok: false, first_bad_seq: 1, problem: CHANGED, sealed_from: null })
    })

    test('truncating entries after the last checkpoint and changing the head is detected', async () => {
      const { ctx, chain, signed } = await signedChain(store)
      await truncateTo(ctx, chain, signed)
      const verdict = await verifyStoredChain(ctx, chain)
      expect(verdict).toMatchObject({ ok: false, problem: CHANGED, anchored_to: signed, first_bad_seq: signed + 1 })
    })

    test('rewriting the chain and deleting its checkpoints is detected, and the result is never signed', async () => {
      const { app, ctx, chain } = await signedChain(store)
      await rewriteFrom(ctx, chain, 3)
      await ctx.db.deleteFrom('audit_checkpoints').where('chain', '=', chain).execute()
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: false, first_bad_seq: 1, problem: CHANGED })
      await signDueCheckpoints(contextLater(app, 10))
      expect(await checkpointsOf(ctx, chain)).toEqual([])
      expect(app.logged.some((line) => line.includes('audit chain is broken') && line.includes(CHANGED))).toBe(true)
      const { body } = await app.call('GET', '/v1/audit/export')
      expect(await verifyAuditExport(exportLines(String(body)))).toMatchObject({ ok: false, signed_by: null })
    })

    test.each([
      ['with a changed head', {}, CHANGED, CHANGED],
      ['with the seal removed', { seal: null }, UNSEALED, UNSEALED],
      ['with a seal that claims another key', { seal: ANOTHER_SEAL }, FOREIGN, UNSEALED],
    ])(
      'a truncated chain %s is still detected after new entries and a restart',
      async (_, set, problem, problemLater) => {
        const { app, ctx, chain } = await signedChain(store)
        await truncateTo(ctx, chain, 4, set)
        await ctx.db.deleteFrom('audit_checkpoints').where('chain', '=', chain).execute()
        const { body } = await app.call('GET', '/v1/audit/verify')
        expect(body).toMatchObject({ ok: false, entries: 4, first_bad_seq: 1, problem, sealed_from: null })
        await addEntries(ctx, chain, 3)
        await restart(app)
        const { entries } = await verifyStoredChain(ctx, chain)
        expect(entries).toBeGreaterThanOrEqual(7)
        await expectBroken(app, chain, problemLater)
      },
    )

    test('removing the seals of all chains is detected, also after a restart', async () => {
      const { app, ctx, chain } = await signedChain(store)
      await truncateTo(ctx, chain, 4)
      await ctx.db.deleteFrom('audit_checkpoints').execute()
      await ctx.db.updateTable('audit_heads').set({ seal: null }).execute()
      await restart(app)
      await expectBroken(app, chain, UNSEALED)
    })

    test.each(['project', 'organisation'])(
      'deleting the whole chain of the %s is detected, and the service keeps working',
      async (which) => {
        const { app } = await signedChain(store)
        const person = { email: 'owner@example.com', password: 'correct horse battery' }
        const signed = (await app.call('POST', '/v1/auth/signup', person)).body
        const key = String(signed.session_token)
        const { id, org_id } = await app.ctx.db.selectFrom('projects').selectAll().executeTakeFirstOrThrow()
        const chain = which === 'project' ? id : org_id
        for (const table of ['audit_entries', 'audit_heads', 'audit_checkpoints'] as const) {
          await app.ctx.db.deleteFrom(table).where('chain', '=', chain).execute()
        }
        const verdict = async () => (await app.call('GET', `/v1/audit/verify?chain=${which}`, undefined, { key })).body
        const emptyChain = { ok: false, entries: 0, head: null, first_bad_seq: 1, sealed_from: null }
        expect(await verdict()).toMatchObject({ ...emptyChain, problem: MISSING })
        await expectUnsignedExport(app, `/v1/audit/export?chain=${which}`, key)
        const write =
          which === 'project'
            ? await app.call('POST', '/v1/keys', { name: 'server' })
            : await app.call('POST', '/v1/projects', { name: 'Second' }, { key })
        expect(write.status).toBe(201)
        const headers = { 'x-svc-project': id }
        const { body } = await app.call('GET', `/v1/audit/verify?chain=${which}`, undefined, { key, headers })
        expect(body).toMatchObject({ ok: false, entries: 1, first_bad_seq: 1, problem: UNSEALED })
      },
    )

    test('moving the head back is detected, and new entries follow the last one', async () => {
      const { app, ctx, chain } = await signedChain(store)
      const { entries } = await verifyStoredChain(ctx, chain)
      const { hash } = (await app.call('GET', '/v1/audit?from_seq=4&to_seq=4')).body.data[0]
      await ctx.db.updateTable('audit_heads').set({ seq: 4, hash }).where('chain', '=', chain).execute()
      const problem = 'entry 5 is after the head'
      expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: false, first_bad_seq: 5, problem })
      expect(await adoptChains(ctx)).toEqual({ adopted: [], refused: [{ chain, problem }] })
      expect((await app.call('POST', '/v1/keys', { name: 'server' })).status).toBe(201)
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: false, entries: entries + 1, problem: CHANGED })
      await expectBroken(app, chain, CHANGED)
    })

    test('deleting only the head is detected, and new entries follow the last one', async () => {
      const { app, ctx, chain } = await signedChain(store)
      const { entries } = await verifyStoredChain(ctx, chain)
      await ctx.db.deleteFrom('audit_heads').where('chain', '=', chain).execute()
      expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: false, entries, problem: MISSING })
      expect((await app.call('POST', '/v1/keys', { name: 'server' })).status).toBe(201)
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: false, entries: entries + 1, problem: UNSEALED })
      await expectBroken(app, chain, UNSEALED)
    })

    test('no checkpoint is signed after a forged one', async () => {
      const { app, ctx, chain, signed } = await signedChain(store)
      const [last] = await checkpointsOf(ctx, chain)
      const forged = { signature: Buffer.alloc(64).toString('base64') }
      await ctx.db.updateTable('audit_checkpoints').set(forged).where('chain', '=', chain).execute()
      await signDueCheckpoints(contextLater(app, 10))
      expect(await checkpointsOf(ctx, chain)).toEqual([{ ...last, ...forged }])
      expect(app.logged.some((line) => line.includes(`the checkpoint of entry ${signed} is forged`))).toBe(true)
    })
  })

  describe('an unchanged chain', () => {
    test('a chain is sealed from its first entry', async () => {
      const { ctx, chain } = await signedChain(store)
      await addEntries(ctx, chain, 2)
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: true, sealed_from: 1 })
    })

    test('an empty chain is sealed, also after a key rotation', async () => {
      const { app, ctx } = await signedChain(store)
      const person = { email: 'owner@example.com', password: 'correct horse battery' }
      const key = (await app.call('POST', '/v1/auth/signup', person)).body.session_token
      const { id } = (await app.call('POST', '/v1/projects', { name: 'Quiet' }, { key })).body
      const headers = { 'x-svc-project': id }
      const { body } = await app.call('GET', '/v1/audit/verify', undefined, { key, headers })
      expect(body).toMatchObject({ ok: true, entries: 0, head: null, sealed_from: 1 })
      const rotated = { ...ctx, vault: createVault(Buffer.alloc(32, 8)) }
      expect(await rotateSecretKey(rotated, SECRET_KEY.toString('base64'))).toMatchObject({ unsealed: [] })
      expect(await verifyStoredChain(rotated, id)).toMatchObject({ ok: true, entries: 0, sealed_from: 1 })
      await addEntries(rotated, id, 1)
      expect(await verifyStoredChain(rotated, id)).toMatchObject({ ok: true, entries: 1, sealed_from: 1 })
    })

    test('a key rotation keeps the chain valid and sealed', async () => {
      const { app, ctx, chain } = await signedChain(store)
      const rotated = { ...ctx, vault: createVault(Buffer.alloc(32, 8)) }
      await rotateSecretKey(rotated, SECRET_KEY.toString('base64'))
      expect(await verifyStoredChain(rotated, chain)).toMatchObject({ ok: true, sealed_from: 1 })
      await addEntries(rotated, chain, 2)
      expect(await signDueCheckpoints({ ...contextLater(app, 10), vault: rotated.vault })).toBeGreaterThan(0)
      const verdict = await verifyStoredChain(rotated, chain)
      expect(verdict).toMatchObject({ ok: true, sealed_from: 1, anchored_to: verdict.entries })
    })

    test('a chain that was changed before a key rotation stays invalid after it', async () => {
      const { ctx, chain, signed } = await signedChain(store)
      await truncateTo(ctx, chain, signed)
      const rotated = { ...ctx, vault: createVault(Buffer.alloc(32, 8)) }
      const { unsealed } = await rotateSecretKey(rotated, SECRET_KEY.toString('base64'))
      expect(unsealed).toEqual([chain])
      expect(await verifyStoredChain(rotated, chain)).toMatchObject({ ok: false, problem: CHANGED })
      expect((await adoptChains(rotated)).refused).toEqual([{ chain, problem: CHANGED }])
    })

    test('a key rotation reports and keeps chains that another key sealed or that have no head', async () => {
      const { ctx, chain } = await signedChain(store)
      const others = ctx.db.selectFrom('audit_heads').select('chain').where('chain', '!=', chain)
      const { chain: gone } = await others.executeTakeFirstOrThrow()
      await ctx.db.deleteFrom('audit_heads').where('chain', '=', gone).execute()
      await ctx.db.updateTable('audit_heads').set({ seal: ANOTHER_SEAL }).where('chain', '=', chain).execute()
      const rotated = { ...ctx, vault: createVault(Buffer.alloc(32, 8)) }
      const { unsealed } = await rotateSecretKey(rotated, SECRET_KEY.toString('base64'))
      expect(new Set(unsealed)).toEqual(new Set([chain, gone]))
      expect(await verifyStoredChain(rotated, chain)).toMatchObject({ ok: false, problem: FOREIGN })
      expect(await verifyStoredChain(rotated, gone)).toMatchObject({ ok: false, problem: MISSING })
    })

    test('a chain stays valid after a start without a key, and sealed_from says since when', async () => {
      const { app, ctx, chain } = await signedChain(store)
      const { entries } = await verifyStoredChain(ctx, chain)
      const keyless = withoutKey(ctx)
      expect(await verifyStoredChain(keyless, chain)).toMatchObject({ ok: true, sealed_from: null })
      await addEntries(keyless, chain, 2)
      expect(await verifyStoredChain(keyless, chain)).toMatchObject({ ok: true, sealed_from: entries + 1 })
      expect(await signDueCheckpoints({ ...contextLater(app, 10), vault: keyless.vault })).toBeGreaterThan(0)
    })
  })

  describe('adoption', () => {
    test('adopting seals chains without a seal of the current key and adds an entry that says so', async () => {
      const { app, ctx, chain, signed } = await signedChain(store)
      const { entries } = await verifyStoredChain(ctx, chain)
      await addEntries(withoutKey(ctx), chain, 3)
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: false, entries: entries + 3, problem: FOREIGN })
      const others = ctx.db.selectFrom('audit_heads').select(['chain', 'seq']).where('chain', '!=', chain)
      const other = await others.executeTakeFirstOrThrow()
      await ctx.db.updateTable('audit_heads').set({ seal: null }).where('chain', '=', other.chain).execute()

      const adoption = await adoptChains(ctx)
      const foreign = { found: 'foreign', entries: entries + 3 }
      const unsealed = { found: 'unsealed', entries: other.seq }
      expect(adoption).toMatchObject({ adopted: { length: 2 }, refused: [] })
      expect(adoption.adopted).toContainEqual({ chain, ...foreign })
      expect(adoption.adopted).toContainEqual({ chain: other.chain, ...unsealed })
      const sealed_from = entries + 4
      expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({
        ok: true,
        entries: sealed_from,
        anchored_to: signed,
        sealed_from,
      })
      const [entry] = (await app.call('GET', '/v1/audit?limit=1')).body.data
      expect(entry).toMatchObject({ actor: SYSTEM_ACTOR, action: 'audit.adopted', subject: chain, data: foreign })
      expect(await verifyStoredChain(ctx, other.chain)).toMatchObject({ ok: true, sealed_from: other.seq + 1 })

      expect(await adoptChains(ctx)).toEqual({ adopted: [], refused: [] })
      await addEntries(ctx, chain, 2)
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: true, entries: sealed_from + 2, sealed_from })
      expect(await signDueCheckpoints(contextLater(app, 10))).toBeGreaterThan(0)
    })

    test('adopting repairs chains after a start with a wrong key', async () => {
      const { ctx, chain } = await signedChain(store)
      const { entries } = await verifyStoredChain(ctx, chain)
      const wrongKey = { ...ctx, vault: createVault(Buffer.alloc(32, 9)) }
      expect(await verifyStoredChain(wrongKey, chain)).toMatchObject({ ok: false, problem: FOREIGN })
      await addEntries(wrongKey, chain, 2)
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: false, problem: UNSEALED })
      expect((await adoptChains(ctx)).adopted).toEqual([{ chain, found: 'unsealed', entries: entries + 2 }])
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: true, sealed_from: entries + 3 })
    })

    test('adopting recreates a missing head after the last entry, also in an empty chain', async () => {
      const { ctx, chain } = await signedChain(store)
      const { entries } = await verifyStoredChain(ctx, chain)
      const others = ctx.db.selectFrom('audit_heads').select('chain').where('chain', '!=', chain)
      const { chain: empty } = await others.executeTakeFirstOrThrow()
      await ctx.db.deleteFrom('audit_entries').where('chain', '=', empty).execute()
      await ctx.db.deleteFrom('audit_checkpoints').where('chain', '=', empty).execute()
      await ctx.db.deleteFrom('audit_heads').execute()
      const { adopted } = await adoptChains(ctx)
      expect(adopted).toHaveLength(2)
      expect(adopted).toContainEqual({ chain, found: 'gone', entries })
      expect(adopted).toContainEqual({ chain: empty, found: 'gone', entries: 0 })
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: true, sealed_from: entries + 1 })
      expect(await verifyStoredChain(ctx, empty)).toMatchObject({ ok: true, entries: 1, sealed_from: 1 })
    })

    test.each([
      ['a wrong seal of the current key', {}, CHANGED],
      [
        'a checkpoint after its last entry',
        { seal: ANOTHER_SEAL },
        /^the chain was cut: a checkpoint refers to entry \d+$/,
      ],
    ])('adopting refuses a chain with %s', async (_, set, problem) => {
      const { ctx, chain, signed } = await signedChain(store)
      await truncateTo(ctx, chain, problem === CHANGED ? signed : signed - 1, set)
      const before = await ctx.db.selectFrom('audit_heads').selectAll().orderBy('chain').execute()
      const { adopted, refused } = await adoptChains(ctx)
      expect(adopted).toEqual([])
      expect(refused).toEqual([
        { chain, problem: typeof problem === 'string' ? problem : expect.stringMatching(problem) },
      ])
      expect(await ctx.db.selectFrom('audit_heads').selectAll().orderBy('chain').execute()).toEqual(before)
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: false, problem: refused[0]?.problem })
    })
  })
})

/** A project chain with at least ten entries and a checkpoint before the last five. */
async function signedChain(store: StoreKind) {
  const app = await testApp({ store, env: { SVC_SECRET_KEY: SECRET_KEY.toString('base64') } })
  const { ctx } = app
  const { id: chain } = (await app.call('GET', '/v1/projects')).body.data[0]
  // Waits for the background loop to sign the entries of the start, so that it does not sign during the test.
  const signatures = ctx.db.selectFrom('audit_checkpoints').select('chain')
  while ((await signatures.execute()).length < 2) await setImmediate()
  await addEntries(ctx, chain, 5)
  await ctx.db.deleteFrom('audit_checkpoints').where('chain', '=', chain).execute()
  await signDueCheckpoints(contextLater(app, 5))
  const [newest] = await checkpointsOf(ctx, chain)
  await addEntries(ctx, chain, 5)
  return { app, ctx, chain, signed: newest?.seq ?? 0 }
}

/** Starts and stops another service on the same store with the same key. */
async function restart({ ctx }: TestApp): Promise<void> {
  const again = await startApp(ctx.config, ctx.world)
  await again.stop()
}

/** Further entries do not repair the chain: no checkpoint and no export of it is signed. */
async function expectBroken(app: TestApp, chain: string, problem: string): Promise<void> {
  const before = await checkpointsOf(app.ctx, chain)
  await addEntries(app.ctx, chain, 1)
  await signDueCheckpoints(contextLater(app, 10))
  expect(await checkpointsOf(app.ctx, chain)).toEqual(before)
  await expectUnsignedExport(app, '/v1/audit/export', app.key)
  expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: false, problem, sealed_from: null })
}

async function expectUnsignedExport(app: TestApp, path: string, key: string): Promise<void> {
  const { body } = await app.call('GET', path, undefined, { key })
  // The test client parses a body with a single JSON line.
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  expect(await verifyAuditExport(exportLines(text))).toMatchObject({ ok: false, exported_at: null })
}

/** The context of a service that was started without SVC_SECRET_KEY. */
function withoutKey(ctx: Ctx): Ctx {
  return { ...ctx, vault: { ...createVault(Buffer.alloc(32, 9)), ephemeral: true } }
}

async function addEntries(ctx: Ctx, chain: string, times: number): Promise<void> {
  for (let n = 1; n <= times; n++)
    await inTx(ctx, (tx) => appendAuditEntry(tx, chain, SYSTEM_ACTOR, 'thing.noted', `thing ${n}`))
}

async function truncateTo({ db }: Ctx, chain: string, seq: number, set: { seal?: string | null } = {}): Promise<void> {
  await db.deleteFrom('audit_entries').where('chain', '=', chain).where('seq', '>', seq).execute()
  const entries = db.selectFrom('audit_entries').select('hash').where('chain', '=', chain).where('seq', '=', seq)
  const { hash } = await entries.executeTakeFirstOrThrow()
  await db
    .updateTable('audit_heads')
    .set({ seq, hash, ...set })
    .where('chain', '=', chain)
    .execute()
}

/** Edits an entry and recomputes all later hashes and the head. */
async function rewriteFrom({ db }: Ctx, chain: string, from: number): Promise<void> {
  const rows = db.selectFrom('audit_entries').selectAll().where('chain', '=', chain).where('seq', '>=', from)
  let prev_hash: string | null = null
  for (const { actor_kind: kind, actor_id: id, ...row } of await rows.orderBy('seq').execute()) {
    const forged = { ...row, actor: { kind, id }, subject: prev_hash ? row.subject : 'forged' }
    prev_hash ??= row.prev_hash
    const hash = entryHash({ ...forged, prev_hash })
    await db
      .updateTable('audit_entries')
      .set({ subject: forged.subject, prev_hash, hash })
      .where('chain', '=', chain)
      .where('seq', '=', row.seq)
      .execute()
    await db.updateTable('audit_heads').set({ hash }).where('chain', '=', chain).execute()
    prev_hash = hash
  }
}

function checkpointsOf({ db }: Ctx, chain: string) {
  return db.selectFrom('audit_checkpoints').selectAll().where('chain', '=', chain).orderBy('seq', 'desc').execute()
}
