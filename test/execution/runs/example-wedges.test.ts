import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sharedApp } from '../../app.ts'
import { openFakeUpstream, respondJson } from '../../fake-upstream.ts'
import { exampleInputs, invoices } from '../../wedges/library/example-inputs.ts'
import { waitForEvent } from './scripted-agent.ts'

const app = sharedApp({
  store: 'sqlite',
  wedges: filesBelow(join(import.meta.dirname, '../../../wedges'), ''),
  env: { SVC_SANDBOX: 'bwrap', SVC_POOL: '1', SVC_TASK_RATE_PER_MIN: '10000', SVC_EGRESS_ALLOW: '127.0.0.1' },
})

function filesBelow(dir: string, prefix: string): Record<string, string> {
  const files: Record<string, string> = {}
  for (const name of readdirSync(join(dir, prefix))) {
    const path = join(prefix, name)
    if (statSync(join(dir, path)).isDirectory()) Object.assign(files, filesBelow(dir, path))
    else files[path] = readFileSync(join(dir, path), 'utf8')
  }
  return files
}

async function startExampleTask(
  wedge: string,
  task_type: string,
  extra: Record<string, unknown> = {},
): Promise<string> {
  return (await app().createTask({ wedge, task_type, input: exampleInputs[wedge]?.[task_type] ?? {}, ...extra })).id
}

async function approve(
  id: string,
  decision: object = {},
): Promise<{ action: string; text?: string; preview: Record<string, unknown> }> {
  const { data } = (await waitForEvent(app(), id, 'approval.requested')).data
  expect((await app().call('POST', `/v1/approvals/${data.approval_id}/approve`, decision)).status).toBe(200)
  return data
}

/** Creates a connection with a secret for the time of a test. */
async function connect(connection: Record<string, unknown>): Promise<string> {
  const { status, body } = await app().call('POST', '/v1/connections', connection)
  expect({ status, body }).toMatchObject({ status: 201 })
  onTestFinished(async () => void (await app().call('DELETE', `/v1/connections/${body.id}`)))
  expect((await app().call('POST', `/v1/connections/${body.id}/secret`, { value: 's' })).status).toBe(200)
  return body.id
}

const mailConnection = (name: string, base_url: string) => ({
  kind: 'email',
  name,
  config: { provider: 'postmark', from: 'Shop <help@example.com>', base_url },
})

describe('refund-desk', () => {
  test('a refund of 180 USD waits for an approval of book_refund, and is booked once approved', async () => {
    const id = await startExampleTask('refund-desk', 'handle_request')
    const approval = await approve(id)
    expect(approval).toMatchObject({ action: 'book_refund', preview: { amount_usd: 180 } })
    const task = await app().finished(id)
    expect(task).toMatchObject({ status: 'succeeded', output: { decision: 'refund', amount_usd: 180 } })
    const { body } = await app().call('GET', '/v1/records?wedge=refund-desk&collection=refund_ledger')
    expect(body.data.map(({ key }: { key: string }) => key)).toContain('A-1042')
  })

  test('a refund of 24 USD is approved by policy without waiting', async () => {
    const input = { ...exampleInputs['refund-desk']?.handle_request, order_id: 'A-7', amount_usd: 24 }
    const id = await startExampleTask('refund-desk', 'handle_request', { input })
    const events = await app().events(id)
    expect(events.map(({ event }) => event)).not.toContain('approval.requested')
    const resolved = events.find(({ event }) => event === 'approval.resolved')
    expect(resolved?.data.data).toMatchObject({ action: 'book_refund', decision: 'auto_approved' })
    expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: { amount_usd: 24 } })
  })

  test('a rejected refund ends the task, and nothing is booked', async () => {
    const input = { ...exampleInputs['refund-desk']?.handle_request, order_id: 'A-no' }
    const id = await startExampleTask('refund-desk', 'handle_request', { input })
    const { data } = (await waitForEvent(app(), id, 'approval.requested')).data
    await app().call('POST', `/v1/approvals/${data.approval_id}/reject`, { reason: 'too much' })
    expect(await app().finished(id)).toMatchObject({ status: 'rejected', error: { reason: 'rejected' } })
    const { body } = await app().call('GET', '/v1/records?wedge=refund-desk&collection=refund_ledger')
    expect(body.data.map(({ key }: { key: string }) => key)).not.toContain('A-no')
  })

  test.each(['assess', 'review_ledger'])('%s runs offline', async (type) => {
    expect(await app().finished(await startExampleTask('refund-desk', type))).toMatchObject({ status: 'succeeded' })
  })

  test('check_eligibility runs only code, without a model', async () => {
    const id = await startExampleTask('refund-desk', 'check_eligibility', {
      input: exampleInputs['refund-desk']?.handle_request,
    })
    expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: { eligible: true } })
  })

  test('pay_out refunds with Stripe, books and mails the amount that the approver set', async () => {
    const vendors = await openFakeUpstream()
    await connect({ preset: 'stripe', name: 'stripe', config: { base_url: vendors.url } })
    await connect(mailConnection('mail', vendors.url))
    const id = await startExampleTask('refund-desk', 'pay_out', {
      input: { ...exampleInputs['refund-desk']?.pay_out, order_id: 'A-paid' },
    })
    expect(await approve(id, { edited: { amount: 7050 } })).toMatchObject({
      action: 'stripe:create_refund',
      text: 'stripe: refund a payment of $180.00',
      preview: { amount: 18000 },
    })
    expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: { amount_usd: 70.5 } })
    for (const collection of ['refund_payments', 'refund_ledger']) {
      const { body } = await app().call('GET', `/v1/records?wedge=refund-desk&collection=${collection}`)
      const entry = body.data.find(({ key }: { key: string }) => key === 'A-paid')
      expect([collection, entry.value.amount_usd]).toEqual([collection, 70.5])
    }
    const [refund, mail] = vendors.received
    expect(refund?.url).toBe('/v1/refunds')
    expect(Object.fromEntries(new URLSearchParams(refund?.body))).toMatchObject({
      payment_intent: 'pi_1042',
      amount: '7050',
      'metadata[order_id]': 'A-paid',
    })
    expect(JSON.parse(mail?.body ?? '')).toMatchObject({
      To: 'dana@example.com',
      TextBody: expect.stringContaining('We have refunded $70.50 for order A-paid.'),
    })
  })

  test('pay_out refunds up to $50.00 without an approval', async () => {
    const vendors = await openFakeUpstream()
    await connect({ preset: 'stripe', name: 'stripe', config: { base_url: vendors.url } })
    await connect(mailConnection('mail', vendors.url))
    const input = { ...exampleInputs['refund-desk']?.pay_out, order_id: 'A-small', amount_usd: 49.99 }
    const id = await startExampleTask('refund-desk', 'pay_out', { input })
    expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: { amount_usd: 49.99 } })
    const { body } = await app().call('GET', `/v1/approvals?task_id=${id}`)
    expect(body.data.map(({ status }: { status: string }) => status)).toEqual(['auto_approved', 'auto_approved'])
  })

  test('pay_out fails before it starts if its connections are missing', async () => {
    const task = await app().finished(await startExampleTask('refund-desk', 'pay_out'))
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'connection_missing' } })
  })
})

describe('inbox-triage', () => {
  test('triage publishes exactly the reply that was approved', async () => {
    const id = await startExampleTask('inbox-triage', 'triage')
    const { action, preview } = await approve(id)
    expect(action).toBe('publish_reply')
    const task = await app().finished(id)
    expect(task).toMatchObject({ status: 'succeeded', output: { category: 'account', urgency: expect.any(String) } })
    expect(task).toMatchObject({ output: { reply: preview.reply } })
  })

  test.each(['triage', 'answer'])(
    '%s replies through the adapter of the channel with exactly the text that was approved, and asks once',
    async (task_type) => {
      const provider = await openFakeUpstream()
      const connection_id = await connect({ kind: 'custom', name: 'bot', config: { base_url: provider.url } })
      const bound = {
        connection_id,
        address: '@desk_bot',
        adapter: 'telegram',
        wedge: 'inbox-triage',
        task_type,
      }
      const { body: channel } = await app().call('POST', '/v1/channels', bound)
      onTestFinished(async () => void (await app().call('DELETE', `/v1/channels/${channel.id}`)))
      await app().call('POST', `/v1/channels/${channel.id}/secret`, { value: 'hook-secret' })
      const chat = { id: 55, type: 'private' }
      const message = { message_id: 1, date: 1, chat, from: { id: 55, first_name: 'Lee' }, text: 'I am locked out' }
      const headers = { 'x-telegram-bot-api-secret-token': 'hook-secret' }
      const update = { update_id: 1, message }
      const { body: received } = await app().call('POST', `/v1/hooks/${channel.id}`, update, { key: null, headers })
      provider.respond = (_, response) => respondJson(response, 200, { ok: true, result: { message_id: 2, chat } })
      const text = 'Please try again now.'
      const { action, preview } = await approve(received.task_id, { edited: { text } })
      expect([action, preview]).toMatchObject(['bot:reply', { chat_id: 55 }])
      const output = { category: 'account', reply: text }
      expect(await app().finished(received.task_id)).toMatchObject({ status: 'succeeded', output })
      expect(provider.received.map(({ body }) => JSON.parse(body))).toMatchObject([{ chat_id: 55, text }])
      const { body: asked } = await app().call('GET', `/v1/approvals?task_id=${received.task_id}`)
      expect(asked.data).toHaveLength(1)
      // A reply has seven days, because the wedge and the settings say nothing else.
      expect(Date.parse(asked.data[0].expires_at) - Date.parse(asked.data[0].created_at)).toBe(604_800_000)
    },
  )

  test('answer_mail answers a message of a mail channel with exactly the mail that was approved', async () => {
    const provider = await openFakeUpstream()
    const connection_id = await connect(mailConnection('mail', provider.url))
    const bound = { connection_id, address: 'help@example.com', wedge: 'inbox-triage', task_type: 'answer_mail' }
    const { body: channel } = await app().call('POST', '/v1/channels', bound)
    onTestFinished(async () => void (await app().call('DELETE', `/v1/channels/${channel.id}`)))
    const message = exampleInputs['inbox-triage']?.answer_mail
    const { body: received } = await app().call('POST', `/v1/channels/${channel.id}/inbound`, message)
    const text = 'Please try again now.  \n\n\nSam'
    const { action, preview } = await approve(received.task_id, { edited: { text } })
    expect(action).toBe('mail:send')
    expect(preview).toMatchObject({ to: 'lee@example.com', subject: 'Re: Cannot log in' })
    const output = { sent: true, reply: text }
    expect(await app().finished(received.task_id)).toMatchObject({ status: 'succeeded', output })
    expect(provider.received.map(({ body }) => JSON.parse(body))).toMatchObject([
      { To: 'lee@example.com', Subject: 'Re: Cannot log in', TextBody: text },
    ])
    const { body: thread } = await app().call('GET', `/v1/threads/${received.thread_id}`)
    const replies = thread.messages.filter(({ direction }: { direction: string }) => direction === 'outbound')
    expect(replies.map(({ body }: { body: string }) => body)).toEqual([text])
  })

  test.each(['acknowledge', 'classify', 'sort_message'])('%s runs offline', async (type) => {
    const id = await startExampleTask('inbox-triage', type, { input: exampleInputs['inbox-triage']?.triage })
    expect(await app().finished(id)).toMatchObject({ status: 'succeeded' })
  })
})

describe('invoice-chaser', () => {
  test('chase_overdue plans reminders for the invoices that are overdue', async () => {
    for (const [key, value] of Object.entries(invoices)) {
      const record = { wedge: 'invoice-chaser', collection: 'invoices', key, value }
      expect((await app().call('POST', '/v1/records', record)).status).toBe(201)
    }
    const task = await app().finished(await startExampleTask('invoice-chaser', 'chase_overdue'))
    expect(task).toMatchObject({ status: 'succeeded', output: { checked: 4, reminded: [] } })
  })

  test('send_reminder mails the letter that was approved and notes the day in the ledger', async () => {
    const provider = await openFakeUpstream()
    for (const name of ['mail', 'reminders']) await connect(mailConnection(name, provider.url))
    const { body: records } = await app().call('GET', '/v1/records?wedge=invoice-chaser&collection=invoices')
    if (records.data.length === 0) {
      const record = { wedge: 'invoice-chaser', collection: 'invoices', key: 'INV-201', value: invoices['INV-201'] }
      await app().call('POST', '/v1/records', record)
    }
    const id = await startExampleTask('invoice-chaser', 'send_reminder')
    const { preview } = await approve(id)
    expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: { sent: true, level: 'final' } })
    expect(JSON.parse(provider.received[0]?.body ?? '')).toMatchObject({ TextBody: preview.text })
  })

  test('next_step and plan_reminders run offline', async () => {
    const input = { invoices: Object.values(invoices), today: '2026-11-14' }
    const plan = await startExampleTask('invoice-chaser', 'plan_reminders', { input })
    expect(await app().finished(plan)).toMatchObject({ status: 'succeeded', output: { day: '2026-11-14' } })
    expect(await app().finished(await startExampleTask('invoice-chaser', 'next_step'))).toMatchObject({
      status: 'succeeded',
    })
  })

  test('escalate moves its case', async () => {
    const opened = await app().call('POST', '/v1/cases', { wedge: 'invoice-chaser', title: 'INV-201' })
    expect(opened.status).toBe(201)
    const created = await app().call('POST', `/v1/cases/${opened.body.id}/tasks`, {
      task_type: 'escalate',
      input: { reason: 'disputed' },
    })
    expect(created.status).toBe(201)
    expect(await app().finished(created.body.id)).toMatchObject({ status: 'succeeded', output: { stage: 'escalated' } })
    expect((await app().call('GET', `/v1/cases/${opened.body.id}`)).body.stage).toBe('escalated')
  })
})
