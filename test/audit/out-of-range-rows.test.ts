import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { appendAuditEntry } from '../../src/audit/append.ts'
import { signDueCheckpoints } from '../../src/audit/sign-checkpoints.ts'
import { verifyAuditExport } from '../../src/contract/audit-export.ts'
import { type Ctx, inTx } from '../../src/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../src/ctx/scope.ts'
import { eachStore, type TestApp, testApp } from '../app.ts'
import type { StoreKind } from '../stores.ts'

eachStore((store) => {
  describe('somebody with the database in hand', () => {
    test.each(['9223372036854775807', '9007199254740993', '0', '-9223372036854775808'])(
      'is found who puts an entry or a checkpoint at number %s, and others are signed all the same',
      async (seq) => {
        const app = await signedApp(store)
        const { db } = app.ctx
        const { body: before } = await app.call('GET', '/v1/audit/verify')
        const number = sql.raw(`cast('${seq}' as bigint)`)
        await sql`insert into audit_entries select chain, ${number}, ts, actor_kind, actor_id, action, subject, data,
          prev_hash, hash from audit_entries where seq = 5`.execute(db)
        const problem = `entry ${seq} stands outside the chain`
        const wrong = { ok: false, first_bad_seq: before.entries + 1, head: before.head }
        expect(await app.call('GET', '/v1/audit/verify')).toMatchObject({ status: 200, body: { ...wrong, problem } })
        expect((await app.call('GET', '/v1/audit')).status).toBe(200)
        const exported = await app.call('GET', '/v1/audit/export')
        expect(await verifyAuditExport(each(String(exported.body).split('\n')))).toMatchObject({ ok: false })

        await sql`delete from audit_entries where seq = ${number}`.execute(db)
        await sql`insert into audit_checkpoints select chain, ${number}, hash, at, kid, signature from audit_checkpoints
          where chain in (select chain from audit_entries where seq = 5) order by seq desc limit 1`.execute(db)
        const { body } = await app.call('GET', '/v1/audit/verify')
        expect(body).toMatchObject({ ...wrong, problem: `a checkpoint tells of entry ${seq}, outside the chain` })
        await signDueCheckpoints(later(app, 5))
        const { anchored_to } = (await app.call('GET', '/v1/audit/verify')).body
        expect(anchored_to).toBe(before.entries)
      },
    )

    test('is found who makes the head a number that cannot be', async () => {
      const app = await signedApp(store)
      await sql`update audit_heads set seq = 9223372036854775807 where seq > 5`.execute(app.ctx.db)
      const { status, body } = await app.call('GET', '/v1/audit/verify')
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { ok: false, problem: expect.stringContaining('the head of the chain is gone') },
      })
    })

    test
      .runIf(store === 'sqlite')
      .each(['ts', 'actor_kind', 'actor_id', 'action', 'subject', 'data', 'prev_hash', 'hash'])(
      'is found who makes bytes of the text in %s',
      async (field) => {
        const app = await signedApp(store)
        const column = sql.ref(field)
        await sql`update audit_entries set ${column} = cast(${column} as blob) where seq = 5`.execute(app.ctx.db)
        const { status, body } = await app.call('GET', '/v1/audit/verify')
        expect({ status, body }).toMatchObject({ status: 200, body: { ok: false, first_bad_seq: 5 } })
      },
    )
  })
})

/** The chain of its project is signed, and has grown since. */
async function signedApp(store: StoreKind): Promise<TestApp> {
  const app = await testApp({ store, env: { SVC_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') } })
  const { id: chain } = (await app.call('GET', '/v1/projects')).body.data[0]
  const note = (n: number) =>
    inTx(app.ctx, (tx) => appendAuditEntry(tx, chain, SYSTEM_ACTOR, 'thing.noted', `thing ${n}`))
  for (let n = 1; n <= 6; n++) await note(n)
  await signDueCheckpoints(app.ctx)
  for (let n = 7; n <= 9; n++) await note(n)
  return app
}

/** The same service at a later time; its own clock stands still. */
function later({ ctx }: TestApp, minutes: number): Ctx {
  const { clock } = ctx.world
  const now = () => clock.now() + minutes * 60_000
  return { ...ctx, world: { ...ctx.world, clock: { now, after: (ms, call) => clock.after(ms, call) } } }
}

async function* each(lines: string[]): AsyncGenerator<string> {
  yield* lines
}
