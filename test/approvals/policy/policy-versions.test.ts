import { expect, test } from 'vitest'
import { signUpOwner } from '../../identity/accounts/members.ts'
import { eachStore } from '../../app.ts'
import { disableWedges, signUpOtherOrganisation } from '../../wedges/knowledge/knowledge-app.ts'
import { type GatedApp, gatedWedgeFiles, sharedGatedApp, startAction } from '../decisions/gated-app.ts'

const OWN_RULES = [{ action: 'send_note', max_per_day: 100 }]

eachStore((store) => {
  const shared = sharedGatedApp(store, {
    wedges: {
      ...gatedWedgeFiles('gate', { policy: { auto_approve: OWN_RULES } }),
      ...gatedWedgeFiles('raced'),
      ...gatedWedgeFiles('checked'),
    },
  })

  test('a saved policy replaces the rules of the wedge for its project, and reset goes back to them', async () => {
    const app = shared()
    const at = '/v1/wedges/gate/policy'
    const nothingSaved = { version: null, source: 'wedge', auto_approve: OWN_RULES, created_by: null, versions: [] }
    expect(await app.call('GET', at)).toMatchObject({ status: 200, body: nothingSaved })
    const auto_approve = [{ action: 'refund:full', max_amount_usd: 20 }]
    const saved = await app.call('PUT', at, { auto_approve, based_on: null })
    expect(saved).toMatchObject({ status: 200, body: { version: 1, source: 'saved', auto_approve } })
    expect(saved.body.created_by).toMatchObject({ kind: 'key', name: expect.any(String) })
    expect(saved.body.versions).toMatchObject([{ version: 1, source: 'saved', rule_count: 1 }])

    const passed = await approvalOf(app, { action: 'refund:full', payload: { amount: 20 } })
    expect(passed).toMatchObject({
      status: 'auto_approved',
      policy_rule: auto_approve[0],
      policy_reason: 'Rule 1 (refund:full) of policy version 1 allows up to $20.',
    })
    expect(await auditEntry(app, 'approval.auto_approved')).toMatchObject({
      data: { policy_reason: passed.policy_reason },
    })
    // The rule of the folder no longer counts.
    const waiting = await approvalOf(app, { action: 'send_note' })
    expect(waiting).toMatchObject({ status: 'pending', policy_reason: 'No auto-approve rule covers send_note.' })

    expect((await app.call('DELETE', at)).status).toBe(204)
    expect((await app.call('GET', at)).body).toMatchObject({
      version: 2,
      source: 'wedge',
      auto_approve: OWN_RULES,
      versions: [
        { version: 2, source: 'wedge', rule_count: null },
        { version: 1, source: 'saved', rule_count: 1 },
      ],
    })
    expect(await auditEntry(app, 'policy.reset')).toMatchObject({ subject: 'gate', data: { version: 2 } })
    // A request that waits stays as it was asked, and the next one passes.
    expect((await app.call('GET', `/v1/approvals/${waiting.approval_id}`)).body.status).toBe('pending')
    expect(await approvalOf(app, { action: 'send_note' })).toMatchObject({
      status: 'auto_approved',
      policy_reason: 'Rule 1 (send_note) allows this action (1 of 100 today).',
    })
    // There is nothing to reset any more.
    expect((await app.call('DELETE', at)).status).toBe(204)
    expect((await app.call('GET', at)).body.version).toBe(2)
  })

  test('a version that is not the newest is 409, and of concurrent saves with the same base one wins', async () => {
    const app = shared()
    const at = '/v1/wedges/raced/policy'
    const put = (body: object) => app.call('PUT', at, { auto_approve: [], ...body })
    expect(await put({ based_on: 1 })).toMatchObject({
      status: 409,
      body: { error: expect.stringMatching(/no policy/) },
    })
    const first = await Promise.all(Array.from({ length: 8 }, () => put({ based_on: null })))
    expect(first.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array(7).fill(409)])
    const late = await put({ based_on: null })
    expect(late.body.error).toBe('the policy was changed and is at version 1 now: read it again before you save')
    expect(await put({ based_on: 1 })).toMatchObject({ status: 200, body: { version: 2 } })
    const unbased = await Promise.all(Array.from({ length: 25 }, () => put({})))
    expect(unbased.map(({ status }) => status)).toEqual(Array(25).fill(200))
    const { version, versions } = (await app.call('GET', at)).body
    expect(version).toBe(27)
    expect(versions.map((one: { version: number }) => one.version)).toEqual(
      Array.from({ length: 20 }, (_, i) => 27 - i),
    )
  })

  test('the routes check rules, role, wedge and scope, and another project keeps its own rules', async () => {
    const app = shared()
    const at = '/v1/wedges/checked/policy'
    for (const [auto_approve, error] of [
      [undefined, /auto_approve/],
      [{}, /auto_approve/],
      [[{ max_per_day: 1 }], /auto_approve\.0\.action/],
      [[{ action: '' }], /auto_approve\.0\.action/],
      [[{ action: 'x', max_amount_usd: -1 }], /max_amount_usd/],
      [[{ action: 'x', max_per_task: 1.5 }], /max_per_task/],
      [[{ action: 'x', max_amount: 5 }], /max_amount/],
      [Array.from({ length: 201 }, () => ({ action: 'x' })), /auto_approve/],
    ] as const) {
      expect(await app.call('PUT', at, { auto_approve })).toMatchObject({
        status: 400,
        body: { error: expect.stringMatching(error) },
      })
    }
    expect((await app.call('PUT', at, { auto_approve: [], based_on: 'x' })).status).toBe(400)
    expect((await app.call('PUT', '/v1/wedges/none/policy', { auto_approve: [] })).status).toBe(404)
    expect((await app.call('GET', '/v1/wedges/none/policy')).status).toBe(404)
    const operator = (await app.call('POST', '/v1/keys', { name: 'o', role: 'operator' })).body.key
    expect((await app.call('PUT', at, { auto_approve: [] }, { key: operator })).status).toBe(403)
    expect((await app.call('DELETE', at, undefined, { key: operator })).status).toBe(403)
    expect((await app.call('GET', at, undefined, { key: operator })).body.version).toBe(null)

    await app.call('PUT', at, { auto_approve: [{ action: '*' }] })
    expect(await auditEntry(app, 'policy.saved')).toMatchObject({
      subject: 'checked',
      data: { version: 1, rules: 1, rules_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
    const other = await signUpOtherOrganisation(app)
    expect((await app.call('GET', at, undefined, other)).body).toMatchObject({ version: null, auto_approve: [] })
    const sibling = await siblingProjectKey(app)
    expect((await app.call('GET', at, undefined, sibling)).body).toMatchObject({ version: null, auto_approve: [] })
    const task = await startAction(app, {}, { wedge: 'checked' })
    await app.finished(task.id)
    expect((await app.call('GET', `/v1/approvals?task_id=${task.id}`)).body.data).toMatchObject([
      { status: 'auto_approved' },
    ])
    await disableWedges(app)
    expect((await app.call('PUT', at, { auto_approve: [] })).status).toBe(403)
  })
})

async function approvalOf(app: GatedApp, input: Record<string, unknown>) {
  const task = await startAction(app, input)
  await app.events(task.id, { until: ({ event }) => event.startsWith('approval.') })
  return (await app.call('GET', `/v1/approvals?task_id=${task.id}`)).body.data[0]
}

/** The newest entry with this action. */
async function auditEntry(app: GatedApp, action: string) {
  const { body } = await app.call('GET', '/v1/audit?limit=200')
  return body.data.find((entry: { action: string }) => entry.action === action)
}

/** A key of another project of the same organisation. */
async function siblingProjectKey(app: GatedApp): Promise<{ key: string }> {
  const session = await signUpOwner(app)
  const { id } = (await app.call('POST', '/v1/projects', { name: 'Sibling' }, { key: session })).body
  const headers = { 'x-svc-project': id }
  return { key: (await app.call('POST', '/v1/keys', { name: 'sibling' }, { key: session, headers })).body.key }
}
