import { describe, expect, test } from 'vitest'
import { approveApproval } from '../../../src/approvals/decisions/decide-approval.ts'
import { findDecidableUnscoped } from '../../../src/approvals/requests/rows.ts'
import { auditActions, addMember } from '../../identity/accounts/members.ts'
import { eachStore } from '../../app.ts'
import { mcpClient } from '../../server/mcp/mcp-client.ts'
import { callsFor } from '../decisions/gated-app.ts'
import { askFor, decide, readApproval, sharedPeopleApp } from './people-app.ts'

eachStore((store) => {
  describe('approvers of an action', () => {
    const app = sharedPeopleApp(store)

    test('a role means that role or a higher one, and others get 403 for every decision', async () => {
      const { operator, admin, owner } = app().people
      const { task, approval } = await askFor(app(), 'transfer')
      const refused = { status: 403, body: { error: 'you are not an approver of this request' } }
      expect(await decide(app(), operator, approval, 'approve')).toMatchObject(refused)
      expect(await decide(app(), operator, approval, 'reject')).toMatchObject(refused)
      expect(await decide(app(), operator, approval, 'revise', { note: 'Shorter.' })).toMatchObject(refused)
      expect(await readApproval(app(), approval)).toMatchObject({ status: 'pending', approvers: ['admin'], needed: 1 })
      expect((await decide(app(), admin, approval, 'approve')).body).toEqual({ ok: true, decision: 'approved' })
      expect(await app().finished(task)).toMatchObject({ status: 'succeeded' })
      const other = await askFor(app(), 'transfer')
      expect((await decide(app(), owner, other.approval, 'reject')).status).toBe(200)
    })

    test('a key counts by its role', async () => {
      const { owner } = app().people
      const { approval } = await askFor(app(), 'transfer')
      const key = await app().call('POST', '/v1/keys', { name: 'bot', role: 'operator' }, { key: owner.session })
      const approve = (credential: string) =>
        app().call('POST', `/v1/approvals/${approval}/approve`, undefined, { key: credential })
      expect((await approve(key.body.key)).status).toBe(403)
      expect((await approve(app().key)).status).toBe(200)
      expect(await readApproval(app(), approval)).toMatchObject({
        decided_by: { kind: 'key', name: expect.any(String) },
      })
    })

    test('a member is named by the mail address in any case, and a higher role does not replace the name', async () => {
      const { owner, operator, second } = app().people
      const { approval } = await askFor(app(), 'publish')
      expect((await decide(app(), owner, approval, 'approve')).status).toBe(403)
      expect((await decide(app(), second, approval, 'approve')).status).toBe(403)
      expect((await decide(app(), operator, approval, 'approve')).status).toBe(200)
      expect(await readApproval(app(), approval)).toMatchObject({
        decided_by: { kind: 'member', id: operator.id, name: 'operator-two@example.com' },
      })
    })

    test('the MCP endpoint has the same rules, and says how many votes there are', async () => {
      const { operator, admin, owner } = app().people
      const { approval } = await askFor(app(), 'refund')
      const mcp = (who: { session: string }) =>
        mcpClient(app(), { key: who.session }).tool('decide_approval', { approval_id: approval, decision: 'approve' })
      expect(await mcp(operator)).toEqual({ isError: true, text: 'you are not an approver of this request' })
      expect((await mcp(admin)).value).toMatchObject({ decision: 'pending', needed: 2 })
      expect((await mcp(owner)).value).toMatchObject({ decision: 'approved' })
    })

    test('who started the task may be excluded from the decision', async () => {
      const { owner, admin } = app().people
      const task = await app().call(
        'POST',
        '/v1/tasks',
        {
          wedge: 'gate',
          task_type: 'act',
          input: { connection: 'crm', action: 'own_work', payload: { text: 'mine' } },
        },
        { key: admin.session },
      )
      await app().events(task.body.id, { until: ({ event }) => event === 'approval.requested' })
      const list = await app().call('GET', `/v1/approvals?task_id=${task.body.id}`)
      const [{ approval_id: approval, context, exclude_requester }] = list.body.data
      expect(exclude_requester).toBe(true)
      expect(context.requested_by).toEqual({ kind: 'member', id: admin.id, name: 'admin-two@example.com' })
      const refused = { error: 'who started the task may not decide about this approval' }
      expect(await decide(app(), admin, approval, 'approve')).toMatchObject({ status: 403, body: refused })
      expect((await decide(app(), admin, approval, 'reject')).status).toBe(403)
      expect((await readApproval(app(), approval)).rule).toContain('The one who started the task may not decide.')
      const { waits_for } = await readApproval(app(), approval)
      const ids = waits_for.map(({ id }: { id: string }) => id)
      expect(ids).toEqual(expect.arrayContaining([owner.id, app().people.operator.id, app().people.second.id]))
      expect(ids).not.toContain(admin.id)
      expect(ids).not.toContain(app().people.viewer.id)
      expect((await decide(app(), owner, approval, 'approve')).status).toBe(200)
      expect((await readApproval(app(), approval)).waits_for).toEqual([])
    })

    test('a key that started the task may be excluded as well', async () => {
      const { approval } = await askFor(app(), 'own_work')
      expect((await app().call('POST', `/v1/approvals/${approval}/approve`)).status).toBe(403)
      expect((await app().call('POST', `/v1/approvals/${approval}/approve`, { hold_s: 5 })).status).toBe(403)
      expect((await decide(app(), app().people.second, approval, 'approve')).status).toBe(200)
    })

    test('a member who lost the role or was removed cannot decide with what is left of a session', async () => {
      const { owner } = app().people
      const late = await addMember(app(), owner.session, 'admin', 'late@example.com')
      const { approval } = await askFor(app(), 'transfer')
      await app().call('PUT', `/v1/members/${late.id}`, { role: 'operator' }, { key: owner.session })
      expect((await decide(app(), late, approval, 'approve')).status).toBe(403)
      const [row] = await findDecidableUnscoped(app().ctx.db, { id: approval })
      if (!row) throw new Error('no approval')
      const before = { actor: { kind: 'member', id: late.id }, role: 'admin' } as const
      await expect(approveApproval(app().ctx, before, row, {})).rejects.toMatchObject({ status: 403 })
      await app().call('DELETE', `/v1/members/${late.id}`, undefined, { key: owner.session })
      expect((await decide(app(), late, approval, 'approve')).status).toBe(401)
      expect(await readApproval(app(), approval)).toMatchObject({ status: 'pending' })
    })
  })

  describe('an approval that needs two people', () => {
    const app = sharedPeopleApp(store)

    test('is pending after the first vote and approved after the second', async () => {
      const { operator, second } = app().people
      const { task, approval } = await askFor(app(), 'pay')
      const first = await decide(app(), operator, approval, 'approve')
      const by = { kind: 'member', id: operator.id, name: 'operator-two@example.com' }
      const votes = [{ by, at: expect.any(String) }]
      expect(first).toMatchObject({ status: 200, body: { ok: true, decision: 'pending', needed: 2 } })
      expect(first.body.votes).toEqual(votes)
      expect((await decide(app(), operator, approval, 'approve')).body).toEqual(first.body)
      const pending = await readApproval(app(), approval)
      expect(pending).toMatchObject({ status: 'pending', needed: 2, votes, decided_by: null })
      expect(pending.rule).toContain('2 people must approve.')
      expect(callsFor(app(), approval)).toHaveLength(0)
      await app().clock.advance(1_000)
      expect((await decide(app(), second, approval, 'approve')).body).toEqual({ ok: true, decision: 'approved' })
      expect(await app().finished(task)).toMatchObject({ status: 'succeeded' })
      const decided = await readApproval(app(), approval)
      expect(decided).toMatchObject({ status: 'approved', decided_by: { id: second.id }, votes: [{ by }, {}] })
      expect(callsFor(app(), approval)).toHaveLength(1)
      const actions = (await auditActions(app(), decided.project_id)).filter((action) => action.startsWith('approval.'))
      expect(actions).toEqual(['approval.voted', 'approval.approved'])
    })

    test('an edit changes the payload for everyone, and the votes start again', async () => {
      const { operator, second, admin } = app().people
      const { task, approval } = await askFor(app(), 'pay', { text: 'hello', to: 'ada' })
      await decide(app(), operator, approval, 'approve')
      const before = await readApproval(app(), approval)
      const edited = await decide(app(), second, approval, 'approve', { edited: { text: 'good day' } })
      expect(edited.body).toMatchObject({ decision: 'pending', votes: [{ by: { id: second.id } }] })
      const after = await readApproval(app(), approval)
      expect(after).toMatchObject({ status: 'pending', edited: { text: 'good day' }, preview: { text: 'hello' } })
      expect(after.payload_sha256).not.toBe(before.payload_sha256)
      const stale = { payload_sha256: before.payload_sha256 }
      expect((await decide(app(), operator, approval, 'approve', stale)).status).toBe(409)
      const again = await decide(app(), operator, approval, 'approve', { edited: { to: 'grace' } })
      expect(again.body).toMatchObject({ decision: 'pending', votes: [{ by: { id: operator.id } }] })
      const current = (await readApproval(app(), approval)).payload_sha256
      const last = await decide(app(), admin, approval, 'approve', { payload_sha256: current })
      expect(last.body).toEqual({ ok: true, decision: 'approved' })
      await app().finished(task)
      expect(callsFor(app(), approval).map(({ body }) => JSON.parse(body))).toEqual([{ text: 'good day', to: 'grace' }])
    })

    test('one reject ends it, also after a vote', async () => {
      const { operator, second } = app().people
      const { task, approval } = await askFor(app(), 'pay')
      await decide(app(), operator, approval, 'approve')
      expect((await decide(app(), second, approval, 'reject', { reason: 'too much' })).status).toBe(200)
      expect(await app().finished(task)).toMatchObject({ status: 'rejected' })
      expect((await decide(app(), second, approval, 'approve')).status).toBe(409)
    })

    test('only approvers vote, and the vote of a removed member does not count', async () => {
      const { owner, admin, operator } = app().people
      const { approval } = await askFor(app(), 'refund')
      expect((await decide(app(), operator, approval, 'approve')).status).toBe(403)
      const leaving = await addMember(app(), owner.session, 'admin', 'leaving@example.com')
      await decide(app(), leaving, approval, 'approve')
      await app().call('DELETE', `/v1/members/${leaving.id}`, undefined, { key: owner.session })
      expect((await readApproval(app(), approval)).votes).toEqual([])
      expect((await decide(app(), admin, approval, 'approve')).body.decision).toBe('pending')
      expect((await decide(app(), owner, approval, 'approve')).body.decision).toBe('approved')
    })

    test('the vote of a member who is no approver any more does not count, and that of a decided approval stays', async () => {
      const { owner, admin } = app().people
      const { approval } = await askFor(app(), 'refund')
      const demoted = await addMember(app(), owner.session, 'admin', 'demoted@example.com')
      const setRole = (role: string) => app().call('PUT', `/v1/members/${demoted.id}`, { role }, { key: owner.session })
      await decide(app(), demoted, approval, 'approve')
      await setRole('operator')
      expect((await readApproval(app(), approval)).votes).toEqual([])
      expect((await decide(app(), admin, approval, 'approve')).body.decision).toBe('pending')
      await setRole('admin')
      expect((await readApproval(app(), approval)).votes).toHaveLength(2)
      expect((await decide(app(), owner, approval, 'approve')).body.decision).toBe('approved')
      await app().call('DELETE', `/v1/members/${demoted.id}`, undefined, { key: owner.session })
      expect((await readApproval(app(), approval)).votes).toHaveLength(3)
    })

    test('an edit back to the first payload does not bring its votes back', async () => {
      const { operator, second, admin } = app().people
      const { approval } = await askFor(app(), 'pay', { text: 'hello' })
      await decide(app(), operator, approval, 'approve')
      await decide(app(), second, approval, 'approve', { edited: { text: 'good day' } })
      const back = await decide(app(), admin, approval, 'approve', { edited: { text: 'hello' } })
      expect(back.body).toMatchObject({ decision: 'pending', votes: [{ by: { id: admin.id } }] })
      expect((await readApproval(app(), approval)).status).toBe('pending')
    })

    test('many votes at once have one outcome and one effect', async () => {
      const { task, approval } = await askFor(app(), 'pay')
      const { owner, admin, operator, second } = app().people
      const voters = [owner, admin, operator, second, owner, admin, operator, second]
      const results = await Promise.all(voters.map((voter) => decide(app(), voter, approval, 'approve')))
      const decisions = results.map(({ status, body }) => (status === 200 ? body.decision : status))
      expect(decisions.filter((decision) => decision === 'approved')).toHaveLength(1)
      expect(decisions.every((decision) => ['approved', 'pending', 409].includes(decision))).toBe(true)
      await app().finished(task)
      expect(callsFor(app(), approval)).toHaveLength(1)
      expect((await readApproval(app(), approval)).votes).toHaveLength(2)
      expect((await app().call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true })
    })
  })
})
