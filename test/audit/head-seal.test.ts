import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { startApp } from '../../src/app.ts'
import { appendAuditEntry } from '../../src/audit/append.ts'
import { signDueCheckpoints } from '../../src/audit/sign-checkpoints.ts'
import { adoptChains } from '../../src/audit/reseal-heads.ts'
import { verifyStoredChain } from '../../src/audit/verify.ts'
import { entryHash } from '../../src/contract/audit-chain.ts'
import { verifyAuditExport } from '../../src/contract/audit-export.ts'
import { rotateSecretKey } from '../../src/vault/rotate-key.ts'
import { createVault } from '../../src/vault/vault.ts'
import { type Ctx, inTx } from '../../src/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../src/ctx/scope.ts'
import { eachStore, type TestApp, testApp } from '../app.ts'
import type { StoreKind } from '../stores.ts'

const SECRET_KEY = Buffer.alloc(32, 7)
const CHANGED = 'the head of the chain was changed, and not by the service'
const UNLESS =
  'unless an upgrade or another SVC_SECRET_KEY explains it (then run `./svc audit adopt`), somebody changed the database'
const GONE = `the head of the chain is gone: ${UNLESS}`
const LOST = `the head of the chain has lost its seal: ${UNLESS}`
const FOREIGN = `the head of the chain bears the seal of another key: ${UNLESS}`
const ANOTHER_SEAL = `${'0'.repeat(16)}.1.${'0'.repeat(64)}`

eachStore((store) => {
  describe('somebody with the database in hand, but without the key', () => {
    test('is found who cuts off the tail with its checkpoints and moves the head', async () => {
      const { app, ctx, chain } = await signedChain(store)
      await cutTo(ctx, chain, 4)
      await ctx.db.deleteFrom('audit_checkpoints').where('chain', '=', chain).where('seq', '>', 4).execute()
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: false, problem: CHANGED, sealed_from: null })
      const { body } = await app.call('GET', '/v1/audit/verify')
      expect(body).toMatchObject({ ok: false, first_bad_seq: 1, problem: CHANGED, sealed_from: null })
    })

    test('is found who cuts off what came after the last checkpoint and moves the head', async () => {
      const { ctx, chain, signed } = await signedChain(store)
      await cutTo(ctx, chain, signed)
      const verdict = await verifyStoredChain(ctx, chain)
      expect(verdict).toMatchObject({ ok: false, problem: CHANGED, anchored_to: signed, first_bad_seq: signed + 1 })
    })

    test('is found who writes the chain anew and removes the checkpoints, and nothing of it is signed', async () => {
      const { app, ctx, chain } = await signedChain(store)
      await writeAnew(ctx, chain, 3)
      await ctx.db.deleteFrom('audit_checkpoints').where('chain', '=', chain).execute()
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: false, first_bad_seq: 1, problem: CHANGED })
      await signDueCheckpoints(later(app, 10))
      expect(await checkpointsOf(ctx, chain)).toEqual([])
      expect(app.logged.some((line) => line.includes('audit chain is broken') && line.includes(CHANGED))).toBe(true)
      const { body } = await app.call('GET', '/v1/audit/export')
      expect(await verifyAuditExport(lines(String(body)))).toMatchObject({ ok: false, signed_by: null })
    })

    test.each([
      ['moved the head', {}, CHANGED, CHANGED],
      ['also took its seal', { seal: null }, LOST, LOST],
      ['passed its seal off as that of another key', { seal: ANOTHER_SEAL }, FOREIGN, LOST],
    ])('is still found who %s when the service went on, and started again', async (_, set, problem, later) => {
      const { app, ctx, chain } = await signedChain(store)
      await cutTo(ctx, chain, 4, set)
      await ctx.db.deleteFrom('audit_checkpoints').where('chain', '=', chain).execute()
      const { body } = await app.call('GET', '/v1/audit/verify')
      expect(body).toMatchObject({ ok: false, entries: 4, first_bad_seq: 1, problem, sealed_from: null })
      await note(ctx, chain, 3)
      await startAgain(app)
      const { entries } = await verifyStoredChain(ctx, chain)
      expect(entries).toBeGreaterThanOrEqual(7)
      await expectBroken(app, chain, later)
    })

    test('is found who takes the seals of all chains, also when the service started again', async () => {
      const { app, ctx, chain } = await signedChain(store)
      await cutTo(ctx, chain, 4)
      await ctx.db.deleteFrom('audit_checkpoints').execute()
      await ctx.db.updateTable('audit_heads').set({ seal: null }).execute()
      await startAgain(app)
      await expectBroken(app, chain, LOST)
    })

    test.each(['project', 'organisation'])(
      'is found who removes the whole chain of the %s, and work goes on',
      async (which) => {
        const { app } = await signedChain(store)
        const person = { email: 'owner@example.com', password: 'correct horse battery' }
        const signed = (await app.call('POST', '/v1/auth/signup', person, { key: null })).body
        const key = String(signed.session_token)
        const { id, org_id } = await app.ctx.db.selectFrom('projects').selectAll().executeTakeFirstOrThrow()
        const chain = which === 'project' ? id : org_id
        for (const table of ['audit_entries', 'audit_heads', 'audit_checkpoints'] as const) {
          await app.ctx.db.deleteFrom(table).where('chain', '=', chain).execute()
        }
        const verdict = async () => (await app.call('GET', `/v1/audit/verify?chain=${which}`, undefined, { key })).body
        const nothing = { ok: false, entries: 0, head: null, first_bad_seq: 1, sealed_from: null }
        expect(await verdict()).toMatchObject({ ...nothing, problem: GONE })
        await expectNoEnd(app, `/v1/audit/export?chain=${which}`, key)
        const done =
          which === 'project'
            ? await app.call('POST', '/v1/keys', { name: 'server' })
            : await app.call('POST', '/v1/projects', { name: 'Second' }, { key })
        expect(done.status).toBe(201)
        const headers = { 'x-svc-project': id }
        const { body } = await app.call('GET', `/v1/audit/verify?chain=${which}`, undefined, { key, headers })
        expect(body).toMatchObject({ ok: false, entries: 1, first_bad_seq: 1, problem: LOST })
      },
    )

    test('is found who moves the head back and leaves the entries, and work goes on behind the last one', async () => {
      const { app, ctx, chain } = await signedChain(store)
      const { entries } = await verifyStoredChain(ctx, chain)
      const { hash } = (await app.call('GET', '/v1/audit?from_seq=4&to_seq=4')).body.data[0]
      await ctx.db.updateTable('audit_heads').set({ seq: 4, hash }).where('chain', '=', chain).execute()
      const problem = 'entry 5 stands behind the head'
      expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: false, first_bad_seq: 5, problem })
      expect(await adoptChains(ctx)).toEqual({ adopted: [], refused: [{ chain, problem }] })
      expect((await app.call('POST', '/v1/keys', { name: 'server' })).status).toBe(201)
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: false, entries: entries + 1, problem: CHANGED })
      await expectBroken(app, chain, CHANGED)
    })

    test('is found who removes the head alone, and work goes on behind the last entry', async () => {
      const { app, ctx, chain } = await signedChain(store)
      const { entries } = await verifyStoredChain(ctx, chain)
      await ctx.db.deleteFrom('audit_heads').where('chain', '=', chain).execute()
      expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: false, entries, problem: GONE })
      expect((await app.call('POST', '/v1/keys', { name: 'server' })).status).toBe(201)
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: false, entries: entries + 1, problem: LOST })
      await expectBroken(app, chain, LOST)
    })

    test('gets nothing signed on top of a checkpoint that nobody signed', async () => {
      const { app, ctx, chain, signed } = await signedChain(store)
      const [last] = await checkpointsOf(ctx, chain)
      const forged = { signature: Buffer.alloc(64).toString('base64') }
      await ctx.db.updateTable('audit_checkpoints').set(forged).where('chain', '=', chain).execute()
      await signDueCheckpoints(later(app, 10))
      expect(await checkpointsOf(ctx, chain)).toEqual([{ ...last, ...forged }])
      expect(app.logged.some((line) => line.includes(`the checkpoint of entry ${signed} is forged`))).toBe(true)
    })
  })

  describe('an honest chain', () => {
    test('is sealed from its first entry, whatever is added', async () => {
      const { ctx, chain } = await signedChain(store)
      await note(ctx, chain, 2)
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: true, sealed_from: 1 })
    })

    test('in which nothing has happened yet is sealed already, and stays so when the key is rotated', async () => {
      const { app, ctx } = await signedChain(store)
      const person = { email: 'owner@example.com', password: 'correct horse battery' }
      const key = (await app.call('POST', '/v1/auth/signup', person, { key: null })).body.session_token
      const { id } = (await app.call('POST', '/v1/projects', { name: 'Quiet' }, { key })).body
      const headers = { 'x-svc-project': id }
      const { body } = await app.call('GET', '/v1/audit/verify', undefined, { key, headers })
      expect(body).toMatchObject({ ok: true, entries: 0, head: null, sealed_from: 1 })
      const rotated = { ...ctx, vault: createVault(Buffer.alloc(32, 8)) }
      expect(await rotateSecretKey(rotated, SECRET_KEY.toString('base64'))).toMatchObject({ unsealed: [] })
      expect(await verifyStoredChain(rotated, id)).toMatchObject({ ok: true, entries: 0, sealed_from: 1 })
      await note(rotated, id, 1)
      expect(await verifyStoredChain(rotated, id)).toMatchObject({ ok: true, entries: 1, sealed_from: 1 })
    })

    test('holds after the rotation of the key, and is sealed as before', async () => {
      const { app, ctx, chain } = await signedChain(store)
      const rotated = { ...ctx, vault: createVault(Buffer.alloc(32, 8)) }
      await rotateSecretKey(rotated, SECRET_KEY.toString('base64'))
      expect(await verifyStoredChain(rotated, chain)).toMatchObject({ ok: true, sealed_from: 1 })
      await note(rotated, chain, 2)
      expect(await signDueCheckpoints({ ...later(app, 10), vault: rotated.vault })).toBeGreaterThan(0)
      const verdict = await verifyStoredChain(rotated, chain)
      expect(verdict).toMatchObject({ ok: true, sealed_from: 1, anchored_to: verdict.entries })
    })

    test('that was changed before the rotation does not hold after it', async () => {
      const { ctx, chain, signed } = await signedChain(store)
      await cutTo(ctx, chain, signed)
      const rotated = { ...ctx, vault: createVault(Buffer.alloc(32, 8)) }
      const { unsealed } = await rotateSecretKey(rotated, SECRET_KEY.toString('base64'))
      expect(unsealed).toEqual([chain])
      expect(await verifyStoredChain(rotated, chain)).toMatchObject({ ok: false, problem: CHANGED })
      expect((await adoptChains(rotated)).refused).toEqual([{ chain, problem: CHANGED }])
    })

    test('that bears the seal of a third key, or no head, is named by the rotation and left as it is', async () => {
      const { ctx, chain } = await signedChain(store)
      const others = ctx.db.selectFrom('audit_heads').select('chain').where('chain', '!=', chain)
      const { chain: gone } = await others.executeTakeFirstOrThrow()
      await ctx.db.deleteFrom('audit_heads').where('chain', '=', gone).execute()
      await ctx.db.updateTable('audit_heads').set({ seal: ANOTHER_SEAL }).where('chain', '=', chain).execute()
      const rotated = { ...ctx, vault: createVault(Buffer.alloc(32, 8)) }
      const { unsealed } = await rotateSecretKey(rotated, SECRET_KEY.toString('base64'))
      expect(new Set(unsealed)).toEqual(new Set([chain, gone]))
      expect(await verifyStoredChain(rotated, chain)).toMatchObject({ ok: false, problem: FOREIGN })
      expect(await verifyStoredChain(rotated, gone)).toMatchObject({ ok: false, problem: GONE })
    })

    test('holds after a start without a key, and says from where it is sealed', async () => {
      const { app, ctx, chain } = await signedChain(store)
      const { entries } = await verifyStoredChain(ctx, chain)
      const without = withoutKey(ctx)
      expect(await verifyStoredChain(without, chain)).toMatchObject({ ok: true, sealed_from: null })
      await note(without, chain, 2)
      expect(await verifyStoredChain(without, chain)).toMatchObject({ ok: true, sealed_from: entries + 1 })
      expect(await signDueCheckpoints({ ...later(app, 10), vault: without.vault })).toBeGreaterThan(0)
    })
  })

  describe('adoption', () => {
    test('takes over what has no seal of the key in use, as it is, and an entry says so', async () => {
      const { app, ctx, chain, signed } = await signedChain(store)
      const { entries } = await verifyStoredChain(ctx, chain)
      await note(withoutKey(ctx), chain, 3)
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
      const [told] = (await app.call('GET', '/v1/audit?limit=1')).body.data
      expect(told).toMatchObject({ actor: SYSTEM_ACTOR, action: 'audit.adopted', subject: chain, data: foreign })
      expect(await verifyStoredChain(ctx, other.chain)).toMatchObject({ ok: true, sealed_from: other.seq + 1 })

      expect(await adoptChains(ctx)).toEqual({ adopted: [], refused: [] })
      await note(ctx, chain, 2)
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: true, entries: sealed_from + 2, sealed_from })
      expect(await signDueCheckpoints(later(app, 10))).toBeGreaterThan(0)
    })

    test('helps who started with a wrong key and has the right one again', async () => {
      const { ctx, chain } = await signedChain(store)
      const { entries } = await verifyStoredChain(ctx, chain)
      const wrong = { ...ctx, vault: createVault(Buffer.alloc(32, 9)) }
      expect(await verifyStoredChain(wrong, chain)).toMatchObject({ ok: false, problem: FOREIGN })
      await note(wrong, chain, 2)
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: false, problem: LOST })
      expect((await adoptChains(ctx)).adopted).toEqual([{ chain, found: 'unsealed', entries: entries + 2 }])
      expect(await verifyStoredChain(ctx, chain)).toMatchObject({ ok: true, sealed_from: entries + 3 })
    })

    test('begins a chain that has no head behind its last entry, also where there is none', async () => {
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
      ['the seal of the key in use does not fit', {}, CHANGED],
      ['a checkpoint tells of more', { seal: ANOTHER_SEAL }, /^the chain was cut: a checkpoint tells of entry \d+$/],
    ])('refuses a chain of which %s', async (_, set, problem) => {
      const { ctx, chain, signed } = await signedChain(store)
      await cutTo(ctx, chain, problem === CHANGED ? signed : signed - 1, set)
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

/** The chain of a project with at least ten entries, signed before the last five of them. */
async function signedChain(store: StoreKind) {
  const app = await testApp({ store, env: { SVC_SECRET_KEY: SECRET_KEY.toString('base64') } })
  const { ctx } = app
  const { id: chain } = (await app.call('GET', '/v1/projects')).body.data[0]
  // The first sweep signs what the start wrote, once: here, and not later.
  const signatures = ctx.db.selectFrom('audit_checkpoints').select('chain')
  while ((await signatures.execute()).length < 2) await setImmediate()
  await note(ctx, chain, 5)
  await ctx.db.deleteFrom('audit_checkpoints').where('chain', '=', chain).execute()
  await signDueCheckpoints(later(app, 5))
  const [newest] = await checkpointsOf(ctx, chain)
  await note(ctx, chain, 5)
  return { app, ctx, chain, signed: newest?.seq ?? 0 }
}

/** Another start on the same store, with the same key. */
async function startAgain({ ctx }: TestApp): Promise<void> {
  const again = await startApp(ctx.config, ctx.world)
  await again.stop()
}

/** Whatever is added, nothing of the chain is signed, neither by a checkpoint nor at the end of an export. */
async function expectBroken(app: TestApp, chain: string, problem: string): Promise<void> {
  const before = await checkpointsOf(app.ctx, chain)
  await note(app.ctx, chain, 1)
  await signDueCheckpoints(later(app, 10))
  expect(await checkpointsOf(app.ctx, chain)).toEqual(before)
  await expectNoEnd(app, '/v1/audit/export', app.key)
  expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: false, problem, sealed_from: null })
}

async function expectNoEnd(app: TestApp, path: string, key: string): Promise<void> {
  const { body } = await app.call('GET', path, undefined, { key })
  // A single line of JSON comes parsed.
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  expect(await verifyAuditExport(lines(text))).toMatchObject({ ok: false, exported_at: null })
}

/** The service as a start without SVC_SECRET_KEY has it. */
function withoutKey(ctx: Ctx): Ctx {
  return { ...ctx, vault: { ...createVault(Buffer.alloc(32, 9)), ephemeral: true } }
}

async function note(ctx: Ctx, chain: string, times: number): Promise<void> {
  for (let n = 1; n <= times; n++)
    await inTx(ctx, (tx) => appendAuditEntry(tx, chain, SYSTEM_ACTOR, 'thing.noted', `thing ${n}`))
}

async function cutTo({ db }: Ctx, chain: string, seq: number, set: { seal?: string | null } = {}): Promise<void> {
  await db.deleteFrom('audit_entries').where('chain', '=', chain).where('seq', '>', seq).execute()
  const entries = db.selectFrom('audit_entries').select('hash').where('chain', '=', chain).where('seq', '=', seq)
  const { hash } = await entries.executeTakeFirstOrThrow()
  await db
    .updateTable('audit_heads')
    .set({ seq, hash, ...set })
    .where('chain', '=', chain)
    .execute()
}

/** Edits an entry and chains all that follow to it, with the head. */
async function writeAnew({ db }: Ctx, chain: string, from: number): Promise<void> {
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

/** The same service at a later time; its own clock stands still. */
function later({ ctx }: TestApp, minutes: number): Ctx {
  const { clock } = ctx.world
  const now = () => clock.now() + minutes * 60_000
  return { ...ctx, world: { ...ctx.world, clock: { now, after: (ms, call) => clock.after(ms, call) } } }
}

async function* lines(text: string): AsyncGenerator<string> {
  yield* text.split('\n')
}
