import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { appendAuditEntry } from '../../src/audit/append.ts'
import { signDueCheckpoints } from '../../src/audit/sign-checkpoints.ts'
import { verifyAuditExport } from '../../src/platform/contract/audit/audit-export.ts'
import { inTx } from '../../src/platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../src/platform/ctx/scope.ts'
import { eachStore, type TestApp, testApp } from '../app.ts'
import type { StoreKind } from '../stores.ts'
import { contextLater, exportLines } from './chain-fixtures.ts'

eachStore((store) => {
  describe('rows with invalid numbers or types', () => {
    test.each(['9223372036854775807', '9007199254740993', '0', '-9223372036854775808'])(
      'an entry or checkpoint inserted with number %s is detected, and checkpoints are still signed',
      async (seq) => {
        const app = await signedApp(store)
        const { db } = app.ctx
        const { body: before } = await app.call('GET', '/v1/audit/verify')
        const number = sql.raw(`cast('${seq}' as bigint)`)
        await sql`insert into audit_entries select chain, ${number}, ts, actor_kind, actor_id, action, subject, data,
          prev_hash, hash from audit_entries where seq = 5`.execute(db)
        const problem = `entry ${seq} is outside the chain`
        const invalid = { ok: false, first_bad_seq: before.entries + 1, head: before.head }
        expect(await app.call('GET', '/v1/audit/verify')).toMatchObject({ status: 200, body: { ...invalid, problem } })
        expect((await app.call('GET', '/v1/audit')).status).toBe(200)
        const exported = await app.call('GET', '/v1/audit/export')
        expect(await verifyAuditExport(exportLines(String(exported.body).split('\n')))).toMatchObject({ ok: false })

        await sql`delete from audit_entries where seq = ${number}`.execute(db)
        await sql`insert into audit_checkpoints select chain, ${number}, hash, at, kid, signature from audit_checkpoints
          where chain in (select chain from audit_entries where seq = 5) order by seq desc limit 1`.execute(db)
        const { body } = await app.call('GET', '/v1/audit/verify')
        expect(body).toMatchObject({ ...invalid, problem: `a checkpoint is for entry ${seq}, outside the chain` })
        await signDueCheckpoints(contextLater(app, 5))
        const { anchored_to } = (await app.call('GET', '/v1/audit/verify')).body
        expect(anchored_to).toBe(before.entries)
      },
    )

    test('a head with an impossible number is detected', async () => {
      const app = await signedApp(store)
      await sql`update audit_heads set seq = 9223372036854775807 where seq > 5`.execute(app.ctx.db)
      const { status, body } = await app.call('GET', '/v1/audit/verify')
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { ok: false, problem: expect.stringMatching(/^the head of the chain is/) },
      })
    })

    test
      .runIf(store === 'sqlite')
      .each(['ts', 'actor_kind', 'actor_id', 'action', 'subject', 'data', 'prev_hash', 'hash'])(
      'a blob instead of text in column %s is detected',
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

/** An app whose project chain has a checkpoint and three later entries. */
async function signedApp(store: StoreKind): Promise<TestApp> {
  const app = await testApp({ store, env: { SVC_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') } })
  const { id: chain } = (await app.call('GET', '/v1/projects')).body.data[0]
  const addEntry = (n: number) =>
    inTx(app.ctx, (tx) => appendAuditEntry(tx, chain, SYSTEM_ACTOR, 'thing.noted', `thing ${n}`))
  for (let n = 1; n <= 6; n++) await addEntry(n)
  await signDueCheckpoints(app.ctx)
  for (let n = 7; n <= 9; n++) await addEntry(n)
  return app
}
