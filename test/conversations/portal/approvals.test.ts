import { describe, expect, test } from 'vitest'
import { anyStore, eachStore } from '../../app.ts'
import { callsFor, requestedApprovalId } from '../../approvals/decisions/gated-app.ts'
import { openPortal } from '../../customers/channels/channel-app.ts'
import { linkMail, readMessages } from '../../approvals/notifications/notified-app.ts'
import { askBuyer, ORDER, readApproval, sharedShopApp } from './approval-app.ts'

const NOT_AN_APPROVER = { status: 403, body: { error: 'you are not an approver of this request' } }

anyStore((store) => {
  describe('an action that the client approves', () => {
    const app = sharedShopApp(store)

    test('is in the portal and in the thread, and is performed after the approval of the client', async () => {
      const { task, approval, portal, thread_id, client_id } = await askBuyer(app(), 'ada@example.com')
      const asked = await readApproval(app(), approval)
      expect(asked).toMatchObject({
        approvers: ['client'],
        needed: 1,
        to: null,
        rule: expect.stringContaining('client'),
      })
      const { body } = await portal('GET', 'approvals')
      const shown = {
        id: approval,
        task_id: task,
        thread_id,
        title: 'Please confirm: place the order ($45.00)',
        amount: { value: 45, currency: 'USD', text: '$45.00', path: 'total' },
        payload: ORDER,
        payload_sha256: asked.payload_sha256,
        status: 'pending',
        your_decision: null,
        reason: null,
        created_at: asked.created_at,
        expires_at: asked.expires_at,
        decided_at: null,
      }
      expect(body).toEqual({ data: [shown], next_cursor: null })
      // As long as a question to a client.
      expect(Date.parse(asked.expires_at) - Date.parse(asked.created_at)).toBe(7 * 86_400_000)
      const { messages } = (await portal('GET', `threads/${thread_id}`)).body
      const notice = 'Please confirm: place the order ($45.00). You can approve or decline it in the portal.'
      expect(messages.at(-1)).toMatchObject({ direction: 'outbound', body: notice, task_id: task })
      expect(await portal('POST', `approvals/${approval}/approve`, {})).toMatchObject({
        status: 200,
        body: { ok: true, decision: 'approved' },
      })
      expect(await app().finished(task)).toMatchObject({ status: 'succeeded', output: { ok: true } })
      expect(callsFor(app(), approval).map((call) => JSON.parse(call.body))).toEqual([ORDER])
      expect(await readApproval(app(), approval)).toMatchObject({
        status: 'approved',
        edited: null,
        decided_by: { kind: 'client', id: client_id, name: 'Ada' },
      })
      const decided = (await portal('GET', 'approvals')).body.data
      expect(decided).toEqual([
        { ...shown, status: 'approved', your_decision: 'approved', decided_at: expect.any(String) },
      ])
      expect((await portal('GET', 'approvals?status=pending')).body.data).toEqual([])
      const entries = (await app().call('GET', '/v1/audit?limit=200')).body.data
      const ofApproval = entries.filter(({ subject }: { subject: string }) => subject === approval)
      expect(ofApproval).toMatchObject([
        { action: 'action.executed', actor: { kind: 'task', id: task } },
        { action: 'approval.approved', actor: { kind: 'client', id: client_id } },
      ])
      expect((await app().call('GET', '/v1/audit/verify')).body.ok).toBe(true)
    })

    test('a reject of the client ends the task, and only the team reads who it was and why', async () => {
      const { task, approval, portal, client_id } = await askBuyer(app(), 'bea@example.com')
      const path = `approvals/${approval}/reject`
      expect((await portal('POST', path, { reason: 'x'.repeat(1_001) })).status).toBe(400)
      expect(await portal('POST', path, { reason: 'Too expensive.' })).toMatchObject({
        status: 200,
        body: { ok: true, decision: 'rejected' },
      })
      expect(await app().finished(task)).toMatchObject({ status: 'rejected' })
      expect(callsFor(app(), approval)).toEqual([])
      expect(await readApproval(app(), approval)).toMatchObject({
        status: 'rejected',
        reason: 'Too expensive.',
        decided_by: { kind: 'client', id: client_id },
      })
      expect((await portal('GET', 'approvals')).body.data).toMatchObject([
        { status: 'rejected', your_decision: 'rejected', reason: 'Too expensive.' },
      ])
      for (const verb of ['approve', 'reject'])
        expect(await portal('POST', `approvals/${approval}/${verb}`)).toMatchObject({
          status: 409,
          body: { error: 'approval already decided (rejected)' },
        })
    })

    test('members and keys get 403 for every decision, and can still cancel the task', async () => {
      const { task, approval, portal } = await askBuyer(app(), 'cleo@example.com')
      for (const key of [app().key, app().owner.session, app().operator.session])
        for (const [verb, body] of [['approve'], ['reject'], ['revise', { note: 'Cheaper.' }]] as const)
          expect(await app().call('POST', `/v1/approvals/${approval}/${verb}`, body, { key })).toMatchObject(
            NOT_AN_APPROVER,
          )
      const assigned = { assignee: app().operator.id }
      expect((await app().call('PUT', `/v1/approvals/${approval}`, assigned)).status).toBe(400)
      const waiting = (await app().call('GET', '/v1/needs-you')).body.data
      expect(waiting.filter(({ id }: { id: string }) => id === approval)).toEqual([])
      expect((await app().call('POST', `/v1/tasks/${task}/cancel`)).status).toBe(200)
      expect((await portal('GET', 'approvals')).body.data).toMatchObject([{ status: 'rejected', your_decision: null }])
      expect((await portal('POST', `approvals/${approval}/approve`)).status).toBe(409)
    })

    test('for another client it is 404', async () => {
      const { task, approval, portal } = await askBuyer(app(), 'dora@example.com')
      const other = await askBuyer(app(), 'eve@example.com')
      const ids = (await other.portal('GET', 'approvals')).body.data.map(({ id }: { id: string }) => id)
      expect(ids).toEqual([other.approval])
      for (const verb of ['approve', 'reject'])
        expect(await other.portal('POST', `approvals/${approval}/${verb}`)).toMatchObject({
          status: 404,
          body: { error: 'no such approval' },
        })
      expect(await readApproval(app(), approval)).toMatchObject({ status: 'pending' })
      await portal('POST', `approvals/${approval}/approve`)
      await other.portal('POST', `approvals/${other.approval}/approve`)
      await Promise.all([app().finished(task), app().finished(other.task)])
    })

    test('cannot be edited by the client, neither here nor as a question', async () => {
      const { task, approval, portal } = await askBuyer(app(), 'fay@example.com')
      expect((await portal('GET', 'questions')).body.data).toEqual([])
      for (const verb of ['answer', 'decline'])
        expect((await portal('POST', `questions/${approval}/${verb}`, { answer: 'free' })).status).toBe(404)
      await portal('POST', `approvals/${approval}/approve`, { edited: { total: 1 } })
      await app().finished(task)
      expect(callsFor(app(), approval).map((call) => JSON.parse(call.body))).toEqual([ORDER])
    })

    test('is refused after the session ended', async () => {
      const { task, approval, portal, client_id } = await askBuyer(app(), 'gil@example.com')
      await app().call('POST', `/v1/clients/${client_id}/portal-revoke`)
      for (const verb of ['approve', 'reject'])
        expect((await portal('POST', `approvals/${approval}/${verb}`)).status).toBe(401)
      expect((await portal('GET', 'approvals')).status).toBe(401)
      expect(await readApproval(app(), approval)).toMatchObject({ status: 'pending' })
      await app().call('POST', `/v1/tasks/${task}/cancel`)
    })

    test('without a decision in time, the thread says so in words for the client', async () => {
      const { task, approval, portal, thread_id } = await askBuyer(app(), 'late@example.com')
      const expires_at = new Date(app().clock.now() - 1).toISOString()
      await app().ctx.store.transact((db) =>
        db.updateTable('approvals').set({ expires_at }).where('id', '=', approval).execute(),
      )
      expect((await portal('POST', `approvals/${approval}/approve`)).status).toBe(409)
      const readTask = async () => {
        await app().clock.advance(1_000)
        return (await app().call('GET', `/v1/tasks/${task}`)).body.status
      }
      await expect.poll(readTask).toBe('expired')
      const { messages } = (await portal('GET', `threads/${thread_id}`)).body
      expect(messages.at(-1)).toMatchObject({ task_id: task, body: expect.stringMatching(/^Your request needed your/) })
      expect((await portal('GET', 'approvals')).body.data).toMatchObject([{ status: 'expired', your_decision: null }])
      expect(callsFor(app(), approval)).toEqual([])
    })

    test('the list has pages', async () => {
      const { portal, thread_id, task, approval } = await askBuyer(app(), 'ida@example.com')
      await portal('POST', `approvals/${approval}/approve`)
      await app().finished(task)
      // Ids of the same millisecond have no order.
      await app().clock.advance(1_000)
      await portal('POST', `threads/${thread_id}/messages`, { body: 'store:order' })
      await expect.poll(async () => (await portal('GET', 'approvals')).body.data.length).toBe(2)
      const first = (await portal('GET', 'approvals?limit=1')).body
      expect(first.data).toMatchObject([{ status: 'pending' }])
      const second = (await portal('GET', `approvals?limit=1&cursor=${first.next_cursor}`)).body
      expect(second).toMatchObject({ data: [{ id: approval, status: 'approved' }], next_cursor: null })
      expect((await portal('GET', 'approvals?cursor=x')).status).toBe(400)
      await portal('POST', `approvals/${first.data[0].id}/reject`)
    })

    test('the stream of the client shows the request and the decision as progress, live and on replay', async () => {
      const { task, approval, key, portal } = await askBuyer(app(), 'jon@example.com')
      const path = `/v1/portal/tasks/${task}/events`
      const live = app().events(task, { path, key })
      await portal('POST', `approvals/${approval}/approve`)
      await app().finished(task)
      for (const events of [await live, await app().events(task, { path, key })]) {
        const shown = events.filter(({ data }) => data.data.approval_id !== undefined)
        expect(shown.map(({ event, data }) => [event, data.data])).toEqual([
          ['progress', { text: 'Your approval is needed', approval_id: approval }],
          ['progress', { text: 'Approved', approval_id: approval, decision: 'approved' }],
        ])
        expect(JSON.stringify(events)).not.toMatch(/Teapot|decided_by|payload|policy/)
      }
    })

    test('a tool call of the agent waits for the client as well', async () => {
      const { portal, task_id } = await openPortal({ ...app(), channel: app().shippingChannel }, 'kim@example.com')
      const approval = await requestedApprovalId(app(), task_id)
      expect((await portal('GET', 'approvals')).body.data).toMatchObject([
        { id: approval, title: 'Please confirm this step', amount: null, payload: { parcel: 7 } },
      ])
      expect((await portal('POST', `approvals/${approval}/approve`)).status).toBe(200)
      expect(await app().finished(task_id)).toMatchObject({ status: 'succeeded', output: { shipped: true } })
    })

    test('the run has left its cell and continues after the decision', async () => {
      const { task, approval, portal } = await askBuyer(app(), 'lea@example.com')
      const readReplica = async () => {
        await app().clock.advance(1_000)
        const query = app().ctx.db.selectFrom('tasks').select('replica').where('id', '=', task)
        return (await query.execute())[0]?.replica
      }
      await expect.poll(readReplica).toBeNull()
      expect((await portal('POST', `approvals/${approval}/approve`)).status).toBe(200)
      expect(await app().finished(task)).toMatchObject({ status: 'succeeded', output: { ok: true } })
      expect(callsFor(app(), approval)).toHaveLength(1)
    })
  })

  describe('an action that the client and the team approve', () => {
    const app = sharedShopApp(store)
    const decide = (approval: string, verb: string, body?: object) =>
      app().call('POST', `/v1/approvals/${approval}/${verb}`, body, { key: app().owner.session })

    test('is performed after both, and neither reads more than it may', async () => {
      const { task, approval, portal, client_id } = await askBuyer(app(), 'ada@example.com', 'store:contract')
      expect(await portal('POST', `approvals/${approval}/approve`)).toMatchObject({
        status: 200,
        body: { ok: true, decision: 'pending' },
      })
      expect((await portal('POST', `approvals/${approval}/approve`)).body).toEqual({ ok: true, decision: 'pending' })
      expect(await readApproval(app(), approval)).toMatchObject({
        status: 'pending',
        needed: 2,
        votes: [{ by: { kind: 'client', id: client_id, name: 'Ada' } }],
      })
      await app().call('POST', `/v1/approvals/${approval}/comments`, { body: 'between us' })
      expect(callsFor(app(), approval)).toEqual([])
      expect((await decide(approval, 'approve', { hold_s: 60 })).body).toMatchObject({ decision: 'held' })
      const meanwhile = { status: 409, body: { error: 'the team is deciding about this: read it again in a minute' } }
      expect(await portal('POST', `approvals/${approval}/approve`)).toMatchObject(meanwhile)
      expect(await portal('POST', `approvals/${approval}/reject`)).toMatchObject(meanwhile)
      await app().call('DELETE', `/v1/approvals/${approval}/held`, undefined, { key: app().owner.session })
      expect((await decide(approval, 'approve', { note: 'between us' })).body).toEqual({
        ok: true,
        decision: 'approved',
      })
      await app().finished(task)
      expect(callsFor(app(), approval)).toHaveLength(1)
      const { data } = (await portal('GET', 'approvals')).body
      expect(data).toMatchObject([{ status: 'approved', your_decision: 'approved' }])
      expect(JSON.stringify(data)).not.toMatch(/between us|owner@|admin|needed|votes|store:/)
    })

    test('an edit of a member is shown to the client, whose earlier vote does not count any more', async () => {
      const { task, approval, portal } = await askBuyer(app(), 'bea@example.com', 'store:contract')
      const [{ payload_sha256 }] = (await portal('GET', 'approvals')).body.data
      await portal('POST', `approvals/${approval}/approve`, { payload_sha256 })
      expect((await decide(approval, 'approve', { edited: { total: 9_900 } })).body).toMatchObject({
        decision: 'pending',
      })
      const [edited] = (await portal('GET', 'approvals')).body.data
      expect(edited).toMatchObject({
        your_decision: null,
        title: 'Please confirm: place the contract ($99.00)',
        payload: { ...ORDER, total: 9_900 },
      })
      expect((await portal('POST', `approvals/${approval}/approve`, { payload_sha256 })).status).toBe(409)
      const current = { payload_sha256: edited.payload_sha256 }
      expect((await portal('POST', `approvals/${approval}/approve`, current)).body.decision).toBe('approved')
      await app().finished(task)
      expect(callsFor(app(), approval).map((call) => JSON.parse(call.body))).toEqual([{ ...ORDER, total: 9_900 }])
    })

    test('the reject of a member ends it, and the client does not read the reason', async () => {
      const { task, approval, portal } = await askBuyer(app(), 'cleo@example.com', 'store:contract')
      await portal('POST', `approvals/${approval}/approve`)
      expect((await decide(approval, 'reject', { reason: 'between us' })).status).toBe(200)
      await app().finished(task)
      expect((await portal('GET', 'approvals')).body.data).toMatchObject([{ status: 'rejected', reason: null }])
    })

    test('without a decision of the client, the escalation adds people', async () => {
      const { task, approval } = await askBuyer(app(), 'dora@example.com', 'store:upgrade')
      expect(await decide(approval, 'approve')).toMatchObject(NOT_AN_APPROVER)
      await expect
        .poll(async () => {
          await app().clock.advance(5_000)
          return (await readApproval(app(), approval)).approvers
        })
        .toEqual(['client', 'admin'])
      expect((await decide(approval, 'approve')).status).toBe(200)
      await app().finished(task)
    })

    test('only members who may decide get messages, and the client gets one mail', async () => {
      const { outside, owner, operator } = app()
      await app().call('PUT', '/v1/notifiers/mail', { connection: 'mail' })
      await linkMail(app(), owner)
      await linkMail(app(), operator)
      const config = { provider: 'postmark', from: 'shop@example.com', base_url: `${outside.url}/postmark` }
      const outbox = (await app().call('POST', '/v1/connections', { kind: 'email', name: 'outbox', config })).body.id
      await app().call('POST', `/v1/connections/${outbox}/secret`, { value: 'server-token' })
      await app().call('PUT', '/v1/brand', { name: 'Teapot Shop', mail_connection_id: outbox, notify: true })
      const alone = await askBuyer(app(), 'mia@example.com')
      const together = await askBuyer(app(), 'ned@example.com', 'store:contract')
      const messages = async (approval: string) => (await readMessages(app(), approval)).map((one) => one.member_id)
      const mails = () =>
        outside.received.flatMap(({ url, body }) => (url.startsWith('/postmark') ? [JSON.parse(body)] : []))
      await expect
        .poll(
          async () => (await app().clock.advance(5_000), mails().filter(({ To }) => To === 'mia@example.com').length),
        )
        .toBe(1)
      expect(await messages(together.approval)).toEqual([owner.id])
      expect(await messages(alone.approval)).toEqual([])
      const mail = mails().find(({ To }) => To === 'mia@example.com')
      expect(mail.TextBody).toContain('Please confirm: place the order ($45.00).')
      expect(mail.TextBody).toContain(`https://work.example/portal?project=default&thread=${alone.thread_id}`)
      for (const { portal, approval } of [alone, together]) await portal('POST', `approvals/${approval}/reject`)
    })

    test('a client whose message started the task is excluded as its requester', async () => {
      const { task, approval, portal } = await askBuyer(app(), 'eve@example.com', 'store:refund')
      expect(await readApproval(app(), approval)).toMatchObject({ approvers: ['admin'] })
      expect((await portal('GET', 'approvals')).body.data).toEqual([])
      expect((await portal('POST', `approvals/${approval}/approve`)).status).toBe(404)
      expect((await decide(approval, 'approve')).status).toBe(200)
      await app().finished(task)
    })

    test('a client who did not start the task decides, also without a conversation', async () => {
      const client = await openPortal(app(), 'fay@example.com', { body: 'store:order' })
      const created = await app().call('POST', '/v1/cases', {
        wedge: 'shop',
        title: 'Fay',
        client_id: client.client_id,
      })
      const started = await app().call('POST', `/v1/cases/${created.body.id}/tasks`, {
        task_type: 'act',
        input: { body: 'store:refund' },
      })
      expect(started.status, JSON.stringify(started.body)).toBe(201)
      const approval = await requestedApprovalId(app(), started.body.id)
      const { data } = (await client.portal('GET', 'approvals')).body
      expect(data.find(({ id }: { id: string }) => id === approval)).toMatchObject({ thread_id: null })
      expect((await client.portal('POST', `approvals/${approval}/approve`)).status).toBe(200)
      expect(await app().finished(started.body.id)).toMatchObject({ status: 'succeeded' })
    })

    test('a task without a client is decided by the others, or by every operator if no other approver is named', async () => {
      const start = async (body: string) => {
        const { id } = await app().createTask({ wedge: 'shop', task_type: 'act', input: { body } })
        return readApproval(app(), await requestedApprovalId(app(), id))
      }
      const order = await start('store:order')
      expect(order).toMatchObject({ approvers: null, needed: 1, context: { client: null } })
      const decided = await app().call('POST', `/v1/approvals/${order.approval_id}/approve`, undefined, {
        key: app().operator.session,
      })
      expect(decided.status).toBe(200)
      expect(await start('store:contract')).toMatchObject({ approvers: ['admin'], needed: 2 })
      // Only one person is left, so one is enough.
      expect(await start('store:deal')).toMatchObject({ approvers: ['nobody@example.com'], needed: 1 })
    })
  })
})

eachStore((store) => {
  describe('an action that the client approves', () => {
    const app = sharedShopApp(store)

    test('twenty approvals at the same time have one outcome and one effect', async () => {
      const { task, approval, portal } = await askBuyer(app(), 'hal@example.com')
      const results = await Promise.all(
        Array.from({ length: 20 }, () => portal('POST', `approvals/${approval}/approve`)),
      )
      expect(results.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(results.filter(({ status }) => status === 409)).toHaveLength(19)
      expect(await app().finished(task)).toMatchObject({ status: 'succeeded' })
      expect(callsFor(app(), approval)).toHaveLength(1)
    })
  })
})
