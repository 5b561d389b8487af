import { beforeAll, expect, test } from 'vitest'
import { anyStore } from '../../app.ts'
import { callsFor, gatedWedgeFiles, requestedApprovalId, sharedGatedApp, startAction } from '../decisions/gated-app.ts'

const RULE = { action: 'stripe:create_refund', max_amount_usd: 50 }
const wedges = gatedWedgeFiles('gate', {
  connections: ['crm', 'mail', 'hook', 'stripe', 'bank'],
  policy: { auto_approve: [RULE, { action: 'bank:*', max_amount_usd: 50 }] },
})

const operation = (name: string, amount: object, more: object = {}) => ({
  name,
  method: 'POST',
  path: `/${name}`,
  body: 'json',
  amount,
  ...more,
})

const REFUND = operation(
  'create_refund',
  { path: 'amount', unit: 'minor', currency: 'usd' },
  { description: 'Create a refund. The money goes back to the card.' },
)
const CHARGE = operation('charge', { path: 'line.amount', unit: 'minor', currency: 'usd' }, { body: 'form' })
const TRANSFER = operation('pay', { path: 'line.amount', unit: 'major', currency_path: 'line.currency' })

anyStore((store) => {
  const shared = sharedGatedApp(store, { wedges })

  beforeAll(async () => {
    for (const [name, operations] of [
      ['stripe', [REFUND]],
      ['bank', [TRANSFER, CHARGE]],
    ] as const) {
      const config = { base_url: `${shared().outside.url}/${name}`, operations }
      const { status, body } = await shared().call('POST', '/v1/connections', { kind: 'custom', name, config })
      expect(status).toBe(201)
      await shared().call('POST', `/v1/connections/${body.id}/secret`, { value: 'sk_test' })
    }
  })

  const refund = (payload: unknown) => startAction(shared(), { connection: 'stripe', action: RULE.action, payload })
  const pay = (line: unknown) =>
    startAction(shared(), { connection: 'bank', action: 'bank:pay', payload: { line, amount_usd: 1 } })
  const pending = async (task: { id: string }) => {
    const id = await requestedApprovalId(shared(), task.id)
    const { body } = await shared().call('GET', `/v1/approvals/${id}`)
    return body
  }
  const approvalsOf = async (task: { id: string }) =>
    (await shared().call('GET', `/v1/approvals?task_id=${task.id}`)).body.data

  test('a refund of 5000 cents is $50.00: within the limit, and sent as it is', async () => {
    const task = await refund({ charge: 'ch_1', amount: 5000, total: 1_000_000 })
    expect((await shared().finished(task.id)).status).toBe('succeeded')
    const [approval] = await approvalsOf(task)
    expect(approval).toMatchObject({
      status: 'auto_approved',
      text: 'stripe: create a refund of $50.00',
      amount: { value: 50, currency: 'USD', text: '$50.00', path: 'amount', unit: 'minor', currency_path: null },
      preview: { charge: 'ch_1', amount: 5000, total: 1_000_000 },
    })
    expect(JSON.parse(callsFor(shared(), approval.approval_id)[0]?.body ?? '')).toMatchObject({ amount: 5000 })
  })

  test('a refund of 5001 cents waits for a person, and its event shows money', async () => {
    const task = await refund({ amount: 5001 })
    const approval = await pending(task)
    expect(approval.policy_reason).toBe('Auto-approval limit is $50; this is $50.01.')
    const events = await shared().events(task.id, { until: ({ event }) => event === 'approval.requested' })
    expect(events.at(-1)?.data.data).toMatchObject({
      text: 'stripe: create a refund of $50.01',
      amount: { value: 50.01, currency: 'USD' },
      preview: { amount: 5001 },
    })
  })

  test.each([
    [{ amount: 1_000_000, amount_usd: 1 }, 'this is $10000.'],
    [{ amount_usd: 1 }, "'amount' is missing."],
    [{ amount: '100' }, "'amount' is not a number."],
    [{ amount: -100 }, "'amount' is negative."],
    [{ amount: 0.5 }, "'amount' is not a whole number of minor units."],
    [{ amount: null, value: 1 }, "'amount' is not a number."],
  ])('the refund %j waits for a person: %s', async (payload, reason) => {
    const approval = await pending(await refund(payload))
    expect(approval.policy_reason).toBe(`Auto-approval limit is $50; ${reason}`)
  })

  test('only US dollars can be within a limit', async () => {
    const approval = await pending(await pay({ amount: 50, currency: 'eur' }))
    expect(approval.policy_reason).toBe('Auto-approval limit is $50; the amount is 50.00 EUR; limits are in USD.')
    expect(approval).toMatchObject({ text: 'bank: pay of €50.00', amount: { value: 50, currency: 'EUR' } })
    const task = await pay({ amount: 19.99, currency: 'Usd' })
    await shared().finished(task.id)
    expect((await approvalsOf(task))[0]).toMatchObject({ status: 'auto_approved', amount: { text: '$19.99' } })
  })

  test('a form with a second amount under the same name is refused before anybody is asked', async () => {
    const payload = { line: { amount: 1 }, 'line[amount]': 1_000_000 }
    const task = await startAction(shared(), { connection: 'bank', action: 'bank:charge', payload })
    await shared().finished(task.id)
    expect(await approvalsOf(task)).toEqual([])
    expect(shared().outside.received.filter(({ url }) => url === '/bank/charge')).toEqual([])
  })

  test('an edit at the gate changes the amount that is shown and sent', async () => {
    const task = await refund({ amount: 9000 })
    const { approval_id } = await pending(task)
    const edit = { edited: { amount: 1999 }, hold_s: 5 }
    await shared().call('POST', `/v1/approvals/${approval_id}/approve`, edit)
    const shown = {
      text: 'stripe: create a refund of $19.99',
      amount: { value: 19.99, text: '$19.99' },
      preview: { amount: 9000 },
    }
    const path = `/v1/approvals/${approval_id}`
    expect((await shared().call('GET', path)).body).toMatchObject({ ...shown, status: 'pending' })
    await shared().clock.advance(5_000)
    await shared().finished(task.id)
    expect((await shared().call('GET', path)).body).toMatchObject({ ...shown, status: 'approved' })
    expect(JSON.parse(callsFor(shared(), approval_id)[0]?.body ?? '')).toEqual({ amount: 1999 })
  })

  test('a simulation uses the amounts of the past, also when the connection has changed', async () => {
    const { body: connections } = await shared().call('GET', '/v1/connections')
    const { id, config } = connections.data.find(({ name }: { name: string }) => name === 'stripe')
    const changed = { ...config, operations: [{ ...REFUND, amount: { ...REFUND.amount, unit: 'major' } }] }
    await shared().call('PUT', `/v1/connections/${id}`, { config: changed })
    const auto_approve = [{ action: 'stripe:*', max_amount_usd: 50.01 }]
    const { body } = await shared().call('POST', '/v1/wedges/gate/policy/simulate', { auto_approve })
    const results = body.results.filter(({ action }: { action: string }) => action === RULE.action)
    const textOf = (would: string) =>
      results.filter((one: { would: string }) => one.would === would).map(({ text }: { text: string }) => text)
    expect(textOf('pass').toSorted()).toEqual([
      'stripe: create a refund of $50.00',
      'stripe: create a refund of $50.01',
    ])
    expect(textOf('gate')).toContain('stripe: create a refund of $90.00')
    await shared().call('PUT', `/v1/connections/${id}`, { config })
  })

  test('without a declared amount the four fields of the contract count in dollars', async () => {
    const task = await startAction(shared(), { connection: 'crm', action: 'crm:note', payload: { amount: 50 } })
    expect(await pending(task)).toMatchObject({ text: null, amount: null })
  })
})
