import { expect, test } from 'vitest'
import { countLoginAttempt } from '../../../src/identity/accounts/login-limit.ts'
import { deleteExpiredRows } from '../../../src/automation/retention/delete-expired-rows.ts'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { anyStore, testApp } from '../../app.ts'
import { advanceUntilSettled } from '../../approvals/decisions/gated-app.ts'
import { openStream } from '../../work/events/stream-reader.ts'
import { signUpOwner } from './members.ts'

anyStore((store) => {
  test('expired sessions and old sign-in failures are deleted, and nothing else', async () => {
    const app = await testApp({ store })
    const { db, world } = app.ctx
    const key = await signUpOwner(app)
    const fail = (email: string) => countLoginAttempt(app.ctx, { email, address: '192.0.2.1' })
    await fail('early@example.com')
    app.clock.jump(60 * 60_000)
    await fail('late@example.com')
    const expired = { hash: 'x', created_at: '', expires_at: new Date(world.clock.now()).toISOString() }
    await inTx(app.ctx, async (tx) => {
      const member_id = (await tx.db.selectFrom('members').select('id').executeTakeFirstOrThrow()).id
      await tx.db
        .insertInto('sessions')
        .values({ ...expired, member_id })
        .execute()
    })
    await deleteExpiredRows(app.ctx)
    const remaining = await db.selectFrom('login_failures').select('subject').orderBy('subject').execute()
    expect(remaining.map(({ subject }) => subject)).toEqual([
      'account:late@example.com',
      'address:192.0.2.1',
      'pair:192.0.2.1 late@example.com',
    ])
    expect(await db.selectFrom('sessions').select('hash').where('hash', '=', 'x').execute()).toEqual([])
    expect((await app.call('GET', '/v1/auth/session', undefined, { key })).status).toBe(200)
  })

  test('streams of an expired session end', async () => {
    const app = await testApp({ store })
    const key = await signUpOwner(app)
    const stream = await openStream(`${app.url}/v1/stream`, { authorization: `Bearer ${key}` })
    await stream.until(({ tail }) => tail.includes('ready'))
    const expires_at = new Date(app.clock.now()).toISOString()
    await inTx(app.ctx, (tx) => tx.db.updateTable('sessions').set({ expires_at }).execute())
    await advanceUntilSettled(app, stream.ended)
  })
})
