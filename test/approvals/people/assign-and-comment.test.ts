import { describe, expect, test } from 'vitest'
import { auditActions } from '../../identity/accounts/members.ts'
import { anyStore } from '../../app.ts'
import { askFor, decide, readApproval, sharedPeopleApp } from './people-app.ts'

anyStore((store) => {
  describe('before a decision', () => {
    const app = sharedPeopleApp(store)
    const assign = (approval: string, assignee: unknown, key?: string) =>
      app().call('PUT', `/v1/approvals/${approval}`, { assignee }, key ? { key } : {})

    test('a pending approval is assigned to a member, who finds it, and another approver may still decide', async () => {
      const { operator, second } = app().people
      const { approval } = await askFor(app(), 'send_note')
      const assigned = await assign(approval, operator.id)
      expect(assigned).toMatchObject({
        status: 200,
        body: { approval_id: approval, assignee: { id: operator.id, name: 'operator-two@example.com' } },
      })
      const mine = async (key: string) => {
        const { body } = await app().call('GET', '/v1/approvals?assignee=me&status=pending', undefined, { key })
        return body.data.map((one: { approval_id: string }) => one.approval_id)
      }
      expect(await mine(operator.session)).toEqual([approval])
      expect(await mine(second.session)).toEqual([])
      expect(await mine(app().key)).toEqual([])
      const byId = await app().call('GET', `/v1/approvals?assignee=${operator.id}`)
      expect(byId.body.data).toHaveLength(1)
      expect((await assign(approval, null)).body.assignee).toBeNull()
      expect(await mine(operator.session)).toEqual([])
      expect((await decide(app(), second, approval, 'approve')).status).toBe(200)
      expect((await assign(approval, operator.id)).status).toBe(409)
      const { project_id } = await readApproval(app(), approval)
      expect(await auditActions(app(), project_id)).toContain('approval.assigned')
    })

    test('only a member who may decide can be assigned', async () => {
      const { operator, viewer, admin } = app().people
      const { approval } = await askFor(app(), 'transfer')
      const refused = { error: "field 'assignee' must be the id or mail address of a member who may decide" }
      for (const assignee of [operator.id, viewer.id, 'mem_unknown'])
        expect(await assign(approval, assignee)).toMatchObject({ status: 400, body: refused })
      expect((await app().call('PUT', `/v1/approvals/${approval}`, {})).status).toBe(400)
      expect((await assign(approval, admin.id)).status).toBe(200)
      expect((await assign(approval, 'ADMIN-two@example.com')).body.assignee).toMatchObject({ id: admin.id })
      expect((await assign(approval, 'me', admin.session)).body.assignee).toMatchObject({ id: admin.id })
      expect((await assign(approval, 'me')).status).toBe(400)
      expect((await assign(approval, null, viewer.session)).status).toBe(403)
      expect((await assign('apr_unknown', null)).status).toBe(404)
    })

    test('the member who started the task is not assigned if the request excludes that one', async () => {
      const { admin, owner } = app().people
      const input = { connection: 'crm', action: 'own_work', payload: { text: 'mine' } }
      const task = { wedge: 'gate', task_type: 'act', input }
      const { id } = (await app().call('POST', '/v1/tasks', task, { key: admin.session })).body
      await app().events(id, { until: ({ event }) => event === 'approval.requested' })
      const [{ approval_id }] = (await app().call('GET', `/v1/approvals?task_id=${id}`)).body.data
      expect((await assign(approval_id, 'me', admin.session)).status).toBe(400)
      expect((await assign(approval_id, owner.id, admin.session)).status).toBe(200)
    })

    test('the team comments on an approval, also after the decision', async () => {
      const { operator, second, viewer } = app().people
      const { approval } = await askFor(app(), 'send_note')
      const path = `/v1/approvals/${approval}/comments`
      const post = (body: unknown, key = operator.session) => app().call('POST', path, { body }, { key })
      const first = await post('  Is this the right customer?  ')
      expect(first.status).toBe(201)
      expect(first.headers.get('location')).toBe(path)
      expect(first.body).toMatchObject({
        approval_id: approval,
        body: 'Is this the right customer?',
        author: { kind: 'member', id: operator.id, name: 'operator-two@example.com' },
      })
      await decide(app(), second, approval, 'approve')
      await app().clock.advance(1_000)
      expect((await post('Yes.', app().key)).status).toBe(201)
      expect((await post('I only read.', viewer.session)).status).toBe(403)
      for (const body of ['', '  ', 'x'.repeat(10_001), null]) expect((await post(body)).status).toBe(400)
      const page = await app().call('GET', `${path}?limit=1`, undefined, { key: viewer.session })
      expect(page.body.data).toMatchObject([{ body: 'Yes.', author: { kind: 'key' } }])
      const rest = await app().call('GET', `${path}?limit=1&cursor=${page.body.next_cursor}`)
      expect(rest.body).toMatchObject({ data: [{ id: first.body.id }], next_cursor: null })
      expect((await readApproval(app(), approval)).comment_count).toBe(2)
      const { data } = (await app().call('GET', '/v1/audit?limit=200')).body
      const entries = data.filter((entry: { action: string }) => entry.action === 'approval.commented')
      expect(entries).toHaveLength(2)
      expect(JSON.stringify(entries)).not.toContain('customer')
    })
  })
})
