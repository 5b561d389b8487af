import { describe, expect, test } from 'vitest'
import { addMember } from '../../identity/accounts/members.ts'
import { anyStore, eachStore } from '../../app.ts'
import { advanceUntilSettled, callsFor, startReplica, stopReplica } from './gated-app.ts'
import { askFor, decide, type PeopleApp, readApproval, sharedPeopleApp } from '../people/people-app.ts'

const withdraw = (app: PeopleApp, who: { session: string }, approval: string) =>
  app.call('DELETE', `/v1/approvals/${approval}/held`, undefined, { key: who.session })

const needsYou = async (app: PeopleApp) =>
  (await app.call('GET', '/v1/needs-you')).body.data.map(({ id }: { id: string }) => id)

const entriesOf = async (app: PeopleApp, approval: string) =>
  (await app.call('GET', `/v1/audit?subject=${approval}`)).body.data
    .map(({ action }: { action: string }) => action)
    .filter((action: string) => action.startsWith('approval.'))

/** A second later: the last round may still have read when the clock moved, so that the next one needs it to move again. */
const readLater = async (app: PeopleApp, approval: string) => {
  await app.clock.advance(1_000)
  return readApproval(app, approval)
}

anyStore((store) => {
  describe('an approval that is held', () => {
    const app = sharedPeopleApp(store)

    test('stays pending and sends nothing until its seconds are over', async () => {
      const { operator } = app().people
      const { task, approval } = await askFor(app(), 'plain')
      const until = new Date(app().clock.now() + 5_000).toISOString()
      const by = { kind: 'member', id: operator.id, name: 'operator-two@example.com' }
      const held = { decision: 'approved', by, until, edited: null }
      const answer = await decide(app(), operator, approval, 'approve', { hold_s: 5 })
      expect(answer).toMatchObject({ status: 200, body: { ok: true, decision: 'held', held } })
      expect(await readApproval(app(), approval)).toMatchObject({ status: 'pending', held, decided_by: null })
      const list = await app().call('GET', '/v1/approvals?status=pending')
      expect(list.body.data).toContainEqual(expect.objectContaining({ approval_id: approval, held }))
      expect(await needsYou(app())).not.toContain(approval)
      expect((await readApproval(app(), approval)).hold_s).toBe(5)
      await app().clock.advance(4_900)
      expect(await readApproval(app(), approval)).toMatchObject({ status: 'pending' })
      expect(callsFor(app(), approval)).toHaveLength(0)
      await app().clock.advance(100)
      expect(await app().finished(task)).toMatchObject({ status: 'succeeded' })
      expect(await readApproval(app(), approval)).toMatchObject({
        status: 'approved',
        held: null,
        decided_by: by,
        decided_at: until,
      })
      expect(callsFor(app(), approval)).toHaveLength(1)
      expect(await entriesOf(app(), approval)).toEqual(expect.arrayContaining(['approval.held', 'approval.approved']))
    })

    test('is listed for its person until it is withdrawn', async () => {
      const { operator, second } = app().people
      const { task, approval } = await askFor(app(), 'plain')
      const heldBy = async ({ session: key }: { session: string }, filter = '') =>
        (await app().call('GET', `/v1/approvals?held=me${filter}`, undefined, { key })).body.data.map(
          ({ approval_id }: { approval_id: string }) => approval_id,
        )
      await decide(app(), operator, approval, 'approve', { hold_s: 60 })
      expect(await heldBy(operator, '&status=pending')).toContain(approval)
      expect(await heldBy(operator, `&task_id=${task}`)).toEqual([approval])
      expect(await heldBy(second)).not.toContain(approval)
      await withdraw(app(), operator, approval)
      expect(await heldBy(operator)).not.toContain(approval)
    })

    test('is withdrawn by its person only, and the request waits as before', async () => {
      const { operator, second } = app().people
      const { approval } = await askFor(app(), 'plain')
      await decide(app(), operator, approval, 'approve', { hold_s: 60 })
      const refused = { error: 'only operator-two@example.com can withdraw this approval' }
      expect(await withdraw(app(), second, approval)).toMatchObject({ status: 403, body: refused })
      expect((await withdraw(app(), operator, approval)).status).toBe(204)
      expect(await withdraw(app(), operator, approval)).toMatchObject({
        status: 409,
        body: { error: 'no approval of this request is held' },
      })
      expect(await readApproval(app(), approval)).toMatchObject({ status: 'pending', held: null })
      expect(await needsYou(app())).toContain(approval)
      expect(await entriesOf(app(), approval)).toEqual(expect.arrayContaining(['approval.held', 'approval.withdrawn']))
      expect((await decide(app(), second, approval, 'reject')).status).toBe(200)
      expect(await withdraw(app(), operator, approval)).toMatchObject({
        status: 409,
        body: { error: 'approval already decided (rejected)' },
      })
    })

    test('does not expire before it is over, and expires after it was withdrawn', async () => {
      const { operator } = app().people
      const kept = await askFor(app(), 'plain')
      const withdrawn = await askFor(app(), 'plain')
      await app().clock.advance(299_000)
      for (const { approval } of [kept, withdrawn])
        expect((await decide(app(), operator, approval, 'approve', { hold_s: 20 })).status).toBe(200)
      await app().clock.advance(10_000)
      expect(await readApproval(app(), kept.approval)).toMatchObject({ status: 'pending' })
      expect((await withdraw(app(), operator, withdrawn.approval)).status).toBe(204)
      await app().clock.advance(10_000)
      expect(await app().finished(kept.task)).toMatchObject({ status: 'succeeded' })
      expect(await app().finished(withdrawn.task)).toMatchObject({ status: 'expired' })
    })

    test('is dropped if its person may not decide any more when it ends', async () => {
      const { owner } = app().people
      const late = await addMember(app(), owner.session, 'admin', 'held-late@example.com')
      const { approval } = await askFor(app(), 'transfer')
      expect((await decide(app(), late, approval, 'approve', { hold_s: 5 })).status).toBe(200)
      await app().call('PUT', `/v1/members/${late.id}`, { role: 'operator' }, { key: owner.session })
      await app().clock.advance(6_000)
      await expect.poll(async () => (await readLater(app(), approval)).held).toBeNull()
      const reason = 'you are not an approver of this request'
      const dropped = { by: { id: late.id }, reason }
      expect(await readApproval(app(), approval)).toMatchObject({ status: 'pending', decided_by: null, dropped })
      const { body } = await app().call('GET', `/v1/audit?subject=${approval}`)
      expect(body.data).toContainEqual(
        expect.objectContaining({
          action: 'approval.withdrawn',
          actor: expect.objectContaining({ kind: 'system' }),
          data: expect.objectContaining({ reason }),
        }),
      )
      await decide(app(), owner, approval, 'approve', { hold_s: 5 })
      expect(await readApproval(app(), approval)).toMatchObject({ dropped: null })
    })

    test('is tried again for a minute after an unexpected error, and then dropped', async () => {
      const { operator } = app().people
      const setPayload = (id: string, payload: string) =>
        app().ctx.store.transact((db) => db.updateTable('approvals').set({ payload }).where('id', '=', id).execute())
      const [made, dropped] = [await askFor(app(), 'plain'), await askFor(app(), 'plain')]
      for (const { approval } of [made, dropped]) {
        await decide(app(), operator, approval, 'approve', { hold_s: 5 })
        await setPayload(approval, '{')
      }
      await app().clock.advance(30_000)
      await setPayload(made.approval, '{"text":"hello"}')
      await app().clock.advance(5_000)
      expect(await advanceUntilSettled(app(), app().finished(made.task))).toMatchObject({ status: 'succeeded' })
      await app().clock.advance(30_000)
      await expect
        .poll(async () => {
          await app().clock.advance(1_000)
          const held = app().ctx.db.selectFrom('approvals').select('held').where('id', '=', dropped.approval)
          return held.executeTakeFirst()
        })
        .toEqual({ held: null })
      await setPayload(dropped.approval, '{"text":"hello"}')
      expect(await readApproval(app(), dropped.approval)).toMatchObject({
        status: 'pending',
        held: null,
        dropped: { by: { id: operator.id }, reason: 'the service failed' },
      })
    })

    test('is dropped if its key was revoked, and may be of an expired request only if it was made before', async () => {
      const { owner } = app().people
      const { approval } = await askFor(app(), 'plain')
      const { body } = await app().call('POST', '/v1/keys', { name: 'bot', role: 'operator' }, { key: owner.session })
      expect((await decide(app(), { session: body.key }, approval, 'approve', { hold_s: 5 })).status).toBe(200)
      await app().call('DELETE', `/v1/keys/${body.id}`, undefined, { key: owner.session })
      await app().clock.advance(6_000)
      await expect.poll(async () => (await readLater(app(), approval)).held).toBeNull()
      expect(await readApproval(app(), approval)).toMatchObject({ status: 'pending' })
      await app().clock.advance(300_000)
      expect((await decide(app(), owner, approval, 'approve', { hold_s: 5 })).status).toBe(409)
    })

    test('a vote counts only when its seconds are over', async () => {
      const { operator, second } = app().people
      const { task, approval } = await askFor(app(), 'pay')
      await decide(app(), operator, approval, 'approve', { hold_s: 5 })
      expect(await readApproval(app(), approval)).toMatchObject({ votes: [], held: { by: { id: operator.id } } })
      expect((await decide(app(), second, approval, 'approve')).status).toBe(409)
      await app().clock.advance(5_000)
      await expect.poll(async () => (await readLater(app(), approval)).votes).toHaveLength(1)
      expect(await readApproval(app(), approval)).toMatchObject({ status: 'pending', held: null })
      await decide(app(), second, approval, 'approve', { hold_s: 5 })
      await app().clock.advance(5_000)
      expect(await advanceUntilSettled(app(), app().finished(task))).toMatchObject({ status: 'succeeded' })
      const actions = (await entriesOf(app(), approval)).toReversed()
      expect(actions).toEqual(['approval.held', 'approval.voted', 'approval.held', 'approval.approved'])
    })

    test('the edit is checked at once, shown meanwhile and sent afterwards', async () => {
      const { operator } = app().people
      const { task, approval } = await askFor(app(), 'plain')
      expect((await decide(app(), operator, approval, 'approve', { hold_s: 61 })).status).toBe(400)
      expect((await decide(app(), operator, approval, 'approve', { hold_s: 5, edited: [] })).status).toBe(400)
      const edited = { text: 'better' }
      const { body } = await decide(app(), operator, approval, 'approve', { hold_s: 5, edited, note: 'Nicer.' })
      expect(body.held.edited).toEqual(edited)
      expect(await readApproval(app(), approval)).toMatchObject({ edited: null, held: { edited } })
      await app().clock.advance(5_000)
      await advanceUntilSettled(app(), app().finished(task))
      expect(await readApproval(app(), approval)).toMatchObject({ edited, note: 'Nicer.', held: null })
      expect(JSON.parse(callsFor(app(), approval)[0]?.body ?? '')).toEqual(edited)
    })

    test('shows a held edit together with the edit of an earlier approver', async () => {
      const { operator, second } = app().people
      const { approval } = await askFor(app(), 'pay')
      await decide(app(), operator, approval, 'approve', { edited: { text: 'better' } })
      const held = { edited: { text: 'better', to: 'all' } }
      const edit = { hold_s: 5, edited: { to: 'all' } }
      expect((await decide(app(), second, approval, 'approve', edit)).body).toMatchObject({ held })
      expect(await readApproval(app(), approval)).toMatchObject({ edited: { text: 'better' }, held })
    })

    test('ends with a task that is cancelled, and sends nothing', async () => {
      const { operator } = app().people
      const { task, approval } = await askFor(app(), 'plain')
      await decide(app(), operator, approval, 'approve', { hold_s: 5 })
      await app().call('POST', `/v1/tasks/${task}/cancel`)
      await app().clock.advance(6_000)
      expect(await readApproval(app(), approval)).toMatchObject({ status: 'rejected', held: null })
      expect(callsFor(app(), approval)).toHaveLength(0)
    })
  })
})

eachStore((store) => {
  describe('an approval that is held', () => {
    const app = sharedPeopleApp(store)

    if (store === 'postgres')
      test('is made once by several replicas', async () => {
        const { operator } = app().people
        const replica = await startReplica(app())
        const { task, approval } = await askFor(app(), 'plain')
        await decide(app(), operator, approval, 'approve', { hold_s: 5 })
        expect(await advanceUntilSettled(app(), app().finished(task))).toMatchObject({ status: 'succeeded' })
        await stopReplica(app(), replica)
        expect(callsFor(app(), approval)).toHaveLength(1)
        expect(await entriesOf(app(), approval)).toEqual(['approval.approved', 'approval.held'])
      })

    test('takes no other decision meanwhile, and of twenty people who click at once one wins', async () => {
      const { owner, operator, second, admin } = app().people
      const { approval } = await askFor(app(), 'plain')
      const people = Array.from({ length: 20 }, (_, n) => [owner, operator, second, admin][n % 4] ?? owner)
      const answers = await Promise.all(
        people.map((person) => decide(app(), person, approval, 'approve', { hold_s: 60 })),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      const { by } = (await readApproval(app(), approval)).held
      const counts = 'has approved this already: it counts in 60 seconds, unless'
      const error = `${by.name} ${counts} ${by.name} withdraws it`
      const own = 'you have approved this already: it counts in 60 seconds, unless you withdraw it'
      for (const [n, { status, body }] of answers.entries())
        if (status !== 200)
          expect({ status, body }).toEqual({ status: 409, body: { error: people[n]?.id === by.id ? own : error } })
      for (const [decision, body] of [
        ['approve', {}],
        ['reject', {}],
        ['revise', { note: 'Shorter.' }],
      ] as const)
        expect(await decide(app(), by.id === second.id ? owner : second, approval, decision, body)).toMatchObject({
          status: 409,
          body: { error },
        })
      await app().clock.advance(60_000)
      await expect.poll(async () => (await readLater(app(), approval)).decided_by?.id).toBe(by.id)
    })
  })
})
