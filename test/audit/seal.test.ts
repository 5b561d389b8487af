import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Migrator } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startApp } from '../../src/app.ts'
import { audit } from '../../src/audit/append.ts'
import { checkpointDue } from '../../src/audit/checkpoint.ts'
import { sealOldHeads } from '../../src/audit/seal-heads.ts'
import { verifyStored } from '../../src/audit/verify.ts'
import { entryHash, GENESIS } from '../../src/base/audit-chain.ts'
import { verifyExport } from '../../src/base/audit-export.ts'
import { loadConfig } from '../../src/config/config.ts'
import { rotateVault } from '../../src/connections/rotate.ts'
import { vaultWith } from '../../src/connections/vault.ts'
import { type Ctx, inTx } from '../../src/ctx/ctx.ts'
import { SYSTEM } from '../../src/ctx/scope.ts'
import { systemWorld } from '../../src/ctx/system.ts'
import { MIGRATIONS } from '../../src/store/migrations.ts'
import { kyselyOver, openHandle } from '../../src/store/sqlite-handle.ts'
import { eachStore, type TestApp, testApp } from '../app.ts'
import type { StoreKind } from '../stores.ts'

const SECRET_KEY = Buffer.alloc(32, 7)
const CHANGED = 'the head of the chain was changed, and not by the service'
const LOST = 'the head of the chain has lost its seal'

eachStore((store) => {
  describe('somebody with the database in hand, but without the key', () => {
    test('is found who cuts off the tail with its checkpoints and moves the head', async () => {
      const { app, ctx, chain } = await signedChain(store)
      await cutTo(ctx, chain, 4)
      await ctx.db.deleteFrom('audit_checkpoints').where('chain', '=', chain).where('seq', '>', 4).execute()
      expect(await verifyStored(ctx, chain)).toMatchObject({ ok: false, problem: CHANGED, sealed_from: null })
      const { body } = await app.call('GET', '/v1/audit/verify')
      expect(body).toMatchObject({ ok: false, first_bad_seq: 1, problem: CHANGED, sealed_from: null })
    })

    test('is found who cuts off what came after the last checkpoint and moves the head', async () => {
      const { ctx, chain, signed } = await signedChain(store)
      await cutTo(ctx, chain, signed)
      const verdict = await verifyStored(ctx, chain)
      expect(verdict).toMatchObject({ ok: false, problem: CHANGED, anchored_to: signed, first_bad_seq: signed + 1 })
    })

    test('is found who writes the chain anew and removes the checkpoints, and nothing of it is signed', async () => {
      const { app, ctx, chain } = await signedChain(store)
      await writeAnew(ctx, chain, 3)
      await ctx.db.deleteFrom('audit_checkpoints').where('chain', '=', chain).execute()
      expect(await verifyStored(ctx, chain)).toMatchObject({ ok: false, first_bad_seq: 1, problem: CHANGED })
      await checkpointDue(later(app, 10))
      expect(await checkpointsOf(ctx, chain)).toEqual([])
      expect(app.logged.some((line) => line.includes('audit chain is broken') && line.includes(CHANGED))).toBe(true)
      const { body } = await app.call('GET', '/v1/audit/export')
      expect(await verifyExport(lines(String(body)))).toMatchObject({ ok: false, signed_by: null })
    })

    test.each([
      ['moved the head', {}, CHANGED],
      ['also took its seal', { seal: null }, LOST],
    ])('is still found who %s when the service went on, and started again', async (_, set, problem) => {
      const { ctx, chain } = await signedChain(store)
      await cutTo(ctx, chain, 4, set)
      await ctx.db.deleteFrom('audit_checkpoints').where('chain', '=', chain).execute()
      await note(ctx, chain, 3)
      await sealOldHeads(ctx)
      expect(await verifyStored(ctx, chain)).toMatchObject({ ok: false, entries: 7, problem })
    })

    test('is seen by the place since which the head is sealed who passes the seal off as that of another key', async () => {
      const { ctx, chain } = await signedChain(store)
      await cutTo(ctx, chain, 4, { seal: `${'0'.repeat(16)}.1.${'0'.repeat(64)}` })
      await ctx.db.deleteFrom('audit_checkpoints').where('chain', '=', chain).execute()
      expect(await verifyStored(ctx, chain)).toMatchObject({ ok: true, sealed_from: null })
      await note(ctx, chain, 3)
      expect(await verifyStored(ctx, chain)).toMatchObject({ ok: true, sealed_from: 5 })
    })

    test('gets nothing signed on top of a checkpoint that nobody signed', async () => {
      const { app, ctx, chain, signed } = await signedChain(store)
      const [last] = await checkpointsOf(ctx, chain)
      const forged = { signature: Buffer.alloc(64).toString('base64') }
      await ctx.db.updateTable('audit_checkpoints').set(forged).where('chain', '=', chain).execute()
      await checkpointDue(later(app, 10))
      expect(await checkpointsOf(ctx, chain)).toEqual([{ ...last, ...forged }])
      expect(app.logged.some((line) => line.includes(`the checkpoint of entry ${signed} is forged`))).toBe(true)
    })
  })

  describe('an honest chain', () => {
    test('is sealed from its first entry, whatever is added', async () => {
      const { ctx, chain } = await signedChain(store)
      await note(ctx, chain, 2)
      expect(await verifyStored(ctx, chain)).toMatchObject({ ok: true, sealed_from: 1 })
    })

    test('from before there were seals is sealed by the next start, and says from where', async () => {
      const { app, ctx, chain } = await signedChain(store)
      await ctx.db.updateTable('audit_heads').set({ seal: null }).execute()
      await sealOldHeads(ctx)
      const { entries } = await verifyStored(ctx, chain)
      const sealed_from = entries + 1
      expect(await verifyStored(ctx, chain)).toMatchObject({ ok: true, sealed_from })
      await note(ctx, chain, 2)
      expect(await verifyStored(ctx, chain)).toMatchObject({ ok: true, entries: entries + 2, sealed_from })
      expect(app.logged.filter((line) => line.includes('audit heads had no seal'))).toHaveLength(1)
    })

    test('holds after the rotation of the key, and is sealed as before', async () => {
      const { app, ctx, chain } = await signedChain(store)
      const rotated = { ...ctx, vault: vaultWith(Buffer.alloc(32, 8)) }
      await rotateVault(rotated, SECRET_KEY.toString('base64'))
      expect(await verifyStored(rotated, chain)).toMatchObject({ ok: true, sealed_from: 1 })
      await note(rotated, chain, 2)
      expect(await checkpointDue({ ...later(app, 10), vault: rotated.vault })).toBeGreaterThan(0)
      const verdict = await verifyStored(rotated, chain)
      expect(verdict).toMatchObject({ ok: true, sealed_from: 1, anchored_to: verdict.entries })
    })

    test('that was changed before the rotation does not hold after it', async () => {
      const { ctx, chain, signed } = await signedChain(store)
      await cutTo(ctx, chain, signed)
      const rotated = { ...ctx, vault: vaultWith(Buffer.alloc(32, 8)) }
      await rotateVault(rotated, SECRET_KEY.toString('base64'))
      expect(await verifyStored(rotated, chain)).toMatchObject({ ok: false, problem: CHANGED })
    })

    test('holds after a start without the key, and with it again, and says from where it is sealed', async () => {
      const { app, ctx, chain } = await signedChain(store)
      const { entries } = await verifyStored(ctx, chain)
      const without = { ...ctx, vault: { ...vaultWith(Buffer.alloc(32, 9)), ephemeral: true } }
      await sealOldHeads(without)
      expect(await verifyStored(without, chain)).toMatchObject({ ok: true, sealed_from: null })
      await note(without, chain, 2)
      expect(await verifyStored(without, chain)).toMatchObject({ ok: true, sealed_from: entries + 1 })
      expect(await checkpointDue({ ...later(app, 10), vault: without.vault })).toBeGreaterThan(0)
      expect(await verifyStored(ctx, chain)).toMatchObject({ ok: true, sealed_from: null })
      await note(ctx, chain, 1)
      expect(await verifyStored(ctx, chain)).toMatchObject({ ok: true, sealed_from: entries + 3 })
    })
  })
})

test('a store from before there were seals verifies after the start that brings it up to date', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-seal-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const old = kyselyOver(openHandle(join(dir, 'svc.db'), 'normal'), null)
  const migrator = new Migrator({ db: old, provider: { getMigrations: async () => MIGRATIONS } })
  expect((await migrator.migrateTo('0016_record_columns')).error).toBeUndefined()
  const entry = { seq: 1, ts: 'then', action: 'thing.noted', subject: 'thing', data: '{}', prev_hash: GENESIS }
  const hash = entryHash({ ...entry, actor: SYSTEM })
  const row = { ...entry, hash, chain: 'prj_1', actor_kind: SYSTEM.kind, actor_id: SYSTEM.id }
  await old.insertInto('audit_entries').values(row).execute()
  await old.insertInto('audit_heads').values({ chain: 'prj_1', seq: 1, hash }).execute()
  await old.destroy()
  const settings = { SVC_DATA_DIR: dir, SVC_PORT: '0', SVC_SANDBOX: 'process', SVC_POOL: '0' }
  const app = await startApp(loadConfig(settings, dir), systemWorld('silent'))
  onTestFinished(() => app.stop())
  expect(await verifyStored(app.ctx, 'prj_1')).toMatchObject({ ok: true, entries: 1, sealed_from: 2 })
})

/** The chain of a project with at least ten entries, signed before the last five of them. */
async function signedChain(store: StoreKind) {
  const app = await testApp({ store, env: { SVC_SECRET_KEY: SECRET_KEY.toString('base64') } })
  const { ctx } = app
  const { id: chain } = (await app.call('GET', '/v1/projects')).body.data[0]
  await note(ctx, chain, 5)
  await ctx.db.deleteFrom('audit_checkpoints').where('chain', '=', chain).execute()
  await checkpointDue(later(app, 5))
  const [newest] = await checkpointsOf(ctx, chain)
  await note(ctx, chain, 5)
  return { app, ctx, chain, signed: newest?.seq ?? 0 }
}

async function note(ctx: Ctx, chain: string, times: number): Promise<void> {
  for (let n = 1; n <= times; n++) await inTx(ctx, (tx) => audit(tx, chain, SYSTEM, 'thing.noted', `thing ${n}`))
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
