import { expect, test } from 'vitest'
import { callsFor } from '../decisions/gated-app.ts'
import { anyStore, eachStore } from '../../app.ts'
import { type ReceivedRequest, respondJson } from '../../fake-upstream.ts'
import { ask, type ChatApp, HOOK_SECRET, passHold, readApproval, startLink, waitForCall } from './chat-app.ts'
import {
  askInSlack,
  clickOf,
  deliverSlack,
  directMessage,
  ephemeralTexts,
  linkSlackMember,
  openedForm,
  openSlackApp,
  readSlackMessage,
  signSlack,
  type SlackMessage,
  slackMessage,
  submitOf,
} from './slack-app.ts'

const isUpdate = ({ url }: { url: string }) => url === '/chat.update'

const statusOf = async (app: ChatApp, approval: string) => (await readApproval(app, approval)).status

anyStore((store) => {
  test('a click on Approve in Slack approves, the action is sent, and the message shows who decided', async () => {
    const app = await openSlackApp(store)
    const ada = await linkSlackMember(app, 'U1')
    const { task, approval, message } = await askInSlack(app, ada, 'archive', { text: 'hello', to: 'bo@example.com' })
    const { status, body } = await deliverSlack(app, clickOf(app, 'U1', message, 'approve'))
    expect([status, body]).toEqual([200, ''])
    const decided_by = { kind: 'member', id: ada.id }
    await passHold(app, approval)
    expect(await readApproval(app, approval)).toMatchObject({ status: 'approved', decided_by })
    expect(await app.finished(task)).toMatchObject({ status: 'succeeded' })
    const update = await updateIn(app, 'D1', 'Approved by u1@example.com"')
    expect(update).toMatchObject({ channel: 'D1', ts: expect.stringMatching(/^1700000000\./) })
    expect(JSON.stringify(update.blocks)).toContain('Approved by u1@example.com')
    expect(update.blocks.some(({ type }) => type === 'actions')).toBe(false)
    expect(ephemeralTexts(app)).toEqual([])
  })

  test('the member who approved in Slack can undo it for five seconds, and no other member can', async () => {
    const app = await openSlackApp(store)
    const [ada, bo] = [await linkSlackMember(app, 'U1'), await linkSlackMember(app, 'U2')]
    const { approval, message } = await askInSlack(app, ada, 'archive', { text: 'hello' })
    await slackMessage(app, bo, approval)
    await deliverSlack(app, clickOf(app, 'U1', message, 'approve'))
    const mine = await updateIn(app, 'D1', 'Approved by u1@example.com. Sending in 5 s')
    const theirs = await updateIn(app, 'D2', 'Approved by u1@example.com. Sending in 5 s')
    const buttonsOf = ({ blocks }: SlackMessage) => blocks.at(-1)?.elements?.map(({ action_id }) => action_id)
    expect([buttonsOf(mine), buttonsOf(theirs)]).toEqual([['undo', 'open'], ['open']])
    await deliverSlack(app, clickOf(app, 'U1', mine, 'undo').replaceAll('U1', 'U2'))
    for (const button of ['approve', 'edit', 'revise', 'reject'])
      await deliverSlack(app, clickOf(app, 'U2', message, button))
    const heldByAda = expect.stringMatching(
      /^U1@example.com has approved this already: it counts in \d+ seconds?, unless .+ withdraws it\.$/,
    )
    const onlyAda = 'Only u1@example.com can withdraw this approval.'
    expect(ephemeralTexts(app)).toEqual([onlyAda, ...Array(4).fill(heldByAda)])
    expect(app.provider.received.filter(({ url }) => url === '/views.open')).toHaveLength(0)
    app.provider.received.length = 0
    await deliverSlack(app, clickOf(app, 'U1', mine, 'undo'))
    for (const channel of ['D1', 'D2'])
      expect(buttonsOf(await updateIn(app, channel, 'approve'))).toEqual([
        'approve',
        'edit',
        'revise',
        'reject',
        'open',
      ])
    await app.clock.advance(10_000)
    expect(await readApproval(app, approval)).toMatchObject({ status: 'pending', held: null })
    expect(callsFor(app, approval)).toHaveLength(0)
  })

  test('the form of Edit in Slack changes a field, and what was edited is what is sent', async () => {
    const app = await openSlackApp(store)
    const ada = await linkSlackMember(app, 'U1')
    const payload = { text: 'hello', amount: 5, tags: ['a'] }
    const { task, approval, message } = await askInSlack(app, ada, 'archive', payload)
    await deliverSlack(app, clickOf(app, 'U1', message, 'edit'))
    const form = await openedForm(app)
    expect(form.blocks.map(({ element }) => element?.initial_value)).toEqual([undefined, 'hello', '5'])
    const wrong = await deliverSlack(app, submitOf('U1', form, { 'field-1': 'many' }))
    expect(wrong.body).toEqual({ response_action: 'errors', errors: { 'field-0': "'amount' must be a number." } })
    expect(await statusOf(app, approval)).toBe('pending')
    const right = await deliverSlack(app, submitOf('U1', form, { 'field-1': '7.5' }))
    expect([right.status, right.body]).toEqual([200, ''])
    await passHold(app, approval)
    expect(await readApproval(app, approval)).toMatchObject({ status: 'approved', edited: { amount: 7.5 } })
    await app.finished(task)
    expect(callsFor(app, approval).map(({ body }) => JSON.parse(body))).toEqual([{ ...payload, amount: 7.5 }])
    await updateIn(app, 'D1', 'Approved with changes')
  })

  test('the forms of Reject and Send back in Slack take a reason', async () => {
    const app = await openSlackApp(store)
    const ada = await linkSlackMember(app, 'U1')
    const first = await askInSlack(app, ada, 'archive', { text: 'first' })
    await deliverSlack(app, clickOf(app, 'U1', first.message, 'reject'))
    await deliverSlack(app, submitOf('U1', await openedForm(app), { reason: ' too expensive ' }))
    expect(await readApproval(app, first.approval)).toMatchObject({ status: 'rejected', reason: 'too expensive' })
    app.provider.received.length = 0
    const second = await askInSlack(app, ada, 'archive', { text: 'second' })
    await deliverSlack(app, clickOf(app, 'U1', second.message, 'revise'))
    const form = await openedForm(app)
    expect((await deliverSlack(app, submitOf('U1', form, { reason: null }))).body.response_action).toBe('errors')
    await deliverSlack(app, submitOf('U1', form, { reason: 'Be kinder' }))
    expect(await readApproval(app, second.approval)).toMatchObject({
      status: 'rejected',
      revise: true,
      reason: 'Be kinder',
    })
  })

  test('an account is linked by a code, once, from a direct message or a command', async () => {
    const app = await openSlackApp(store)
    const { code } = await startLink(app, app.owner.session, 'slack')
    const links = async () =>
      (await app.call('GET', '/v1/me/notifications', undefined, { key: app.owner.session })).body.links
    await deliverSlack(app, directMessage('U1', 'hello'))
    expect(await links()).toEqual([])
    await deliverSlack(app, directMessage('U1', ` ${code.toUpperCase()} `))
    expect(await links()).toMatchObject([{ kind: 'slack', address: 'U1' }])
    // The code works once.
    await deliverSlack(app, directMessage('U2', code))
    expect(await links()).toMatchObject([{ kind: 'slack', address: 'U1' }])
    expect(app.provider.received.map((one) => [readSlackMessage(one).channel, readSlackMessage(one).text])).toEqual([
      ['U1', expect.stringContaining('not valid')],
      ['U1', expect.stringContaining('linked')],
      ['U2', expect.stringContaining('not valid')],
    ])
    const next = await startLink(app, app.owner.session, 'slack')
    const command = new URLSearchParams({ command: '/approvals', text: next.code, user_id: 'U3', team_id: 'T1' })
    expect((await deliverSlack(app, command.toString())).body).toMatchObject({ response_type: 'ephemeral' })
    expect(await links()).toMatchObject([{ kind: 'slack', address: 'U3' }])
  })

  test('a call of Slack that is wrong, old or for another notifier is refused and decides nothing', async () => {
    const app = await openSlackApp(store)
    const ada = await linkSlackMember(app, 'U1')
    const { approval, message } = await askInSlack(app, ada, 'archive', { text: 'hello' })
    const body = clickOf(app, 'U1', message, 'approve')
    const now = Math.floor(app.clock.now() / 1000)
    expect((await app.deliver(body, {})).status).toBe(401)
    expect((await app.deliver(body, signSlack(body, now, 'another'))).status).toBe(401)
    expect((await app.deliver(`${body}&x=1`, signSlack(body, now))).status).toBe(401)
    expect((await app.deliver(body, signSlack(body, now - 301))).status).toBe(401)
    const other = { key: null, headers: signSlack(body, now, HOOK_SECRET), raw: body }
    const { status } = await app.call('POST', '/v1/hooks/notifiers/ntf_0000000000000000000000000', undefined, other)
    expect(status).toBe(404)
    expect(await statusOf(app, approval)).toBe('pending')
  })

  test('a stranger, a removed member, a demoted member and a member who is no approver cannot decide in Slack', async () => {
    const app = await openSlackApp(store)
    const [ada, bo] = [await linkSlackMember(app, 'U1'), await linkSlackMember(app, 'U2')]
    const { approval, message } = await askInSlack(app, ada, 'archive', { text: 'hello' })
    const key = app.owner.session
    expect((await app.call('PUT', `/v1/members/${ada.id}`, { role: 'viewer' }, { key })).status).toBe(200)
    expect((await app.call('DELETE', `/v1/members/${bo.id}`, undefined, { key })).status).toBe(204)
    for (const user of ['U1', 'U2', 'U9']) {
      for (const button of ['approve', 'edit', 'reject']) await deliverSlack(app, clickOf(app, user, message, button))
    }
    expect(await statusOf(app, approval)).toBe('pending')
    expect(app.provider.received.some(({ url }) => url === '/views.open')).toBe(false)
    const notApprover = 'You are not an approver of this request.'
    const notLinked = 'This account is not linked to a member of the team.'
    expect(ephemeralTexts(app)).toEqual([...Array(3).fill(notApprover), ...Array(6).fill(notLinked)])
    await linkSlackMember(app, 'U3')
    const transfer = await ask(app, 'transfer', { text: 'hello' })
    const forged = clickOf(app, 'U3', message, 'approve').replaceAll(approval, transfer.approval)
    await deliverSlack(app, forged)
    expect(ephemeralTexts(app).at(-1)).toBe(notApprover)
    expect(await statusOf(app, transfer.approval)).toBe('pending')
  })

  test('an approval that needs two people counts both, and an edit makes earlier messages outdated', async () => {
    const app = await openSlackApp(store)
    const [ada, bo] = [await linkSlackMember(app, 'U1'), await linkSlackMember(app, 'U2')]
    const { task, approval, message } = await askInSlack(app, ada, 'pay', { amount: 5 })
    const toBo = await slackMessage(app, bo, approval)
    await deliverSlack(app, clickOf(app, 'U1', message, 'approve'))
    await passHold(app, approval)
    expect(await readApproval(app, approval)).toMatchObject({ status: 'pending', votes: [{ by: { id: ada.id } }] })
    const edited = await app.call(
      'POST',
      `/v1/approvals/${approval}/approve`,
      { edited: { amount: 6 } },
      { key: ada.session },
    )
    expect(edited.body).toMatchObject({ decision: 'pending', votes: [{ by: { id: ada.id } }], needed: 2 })
    await deliverSlack(app, clickOf(app, 'U2', toBo, 'approve'))
    expect(await statusOf(app, approval)).toBe('pending')
    expect(ephemeralTexts(app).at(-1)).toContain('has changed the request')
    await app.call('POST', `/v1/approvals/${approval}/approve`, {}, { key: bo.session })
    await app.finished(task)
    expect(callsFor(app, approval).map(({ body }) => JSON.parse(body))).toEqual([{ amount: 6 }])
  })

  test('after a vote and after an edit, every message shows the votes and the new payload, and its buttons decide about it', async () => {
    const app = await openSlackApp(store)
    const [ada, bo] = [await linkSlackMember(app, 'U1'), await linkSlackMember(app, 'U2')]
    const { task, approval, message } = await askInSlack(app, ada, 'pay', { amount: 5, note: 'first' })
    await slackMessage(app, bo, approval)
    expect(JSON.stringify(message.blocks)).toContain('0 of 2 approved')
    await deliverSlack(app, clickOf(app, 'U1', message, 'approve'))
    for (const channel of ['D1', 'D2']) await updateIn(app, channel, 'Sending in 5 s')
    await passHold(app, approval)
    for (const channel of ['D1', 'D2']) {
      const voted = await updateIn(app, channel, '1 of 2 approved: u1@example.com')
      expect(voted.text).toBe('crm: pay of $5.00')
      expect(voted.blocks.at(-1)?.type).toBe('actions')
    }
    const edit = { edited: { amount: 6 } }
    await app.call('POST', `/v1/approvals/${approval}/approve`, edit, { key: ada.session })
    await updateIn(app, 'D1', 'An approver has changed the request.')
    const changed = await updateIn(app, 'D2', 'An approver has changed the request.')
    expect(changed.text).toBe('crm: pay of $6.00')
    await deliverSlack(app, clickOf(app, 'U2', changed, 'approve'))
    for (const channel of ['D1', 'D2']) await updateIn(app, channel, 'Approved by u2@example.com. Sending in 5 s')
    await passHold(app, approval)
    await app.finished(task)
    expect(callsFor(app, approval).map(({ body }) => JSON.parse(body))).toEqual([{ amount: 6, note: 'first' }])
    for (const channel of ['D1', 'D2']) await updateIn(app, channel, 'Approved with changes by u2@example.com')
    // Two members, each told of two clicks, a vote, an edit and the outcome: a second vote of the same person rewrites nothing.
    expect(app.provider.received.filter(isUpdate)).toHaveLength(10)
  })

  test('a message that Slack does not let the service rewrite after a vote is left alone until the next change', async () => {
    const app = await openSlackApp(store)
    const ada = await linkSlackMember(app, 'U1')
    const { approval } = await askInSlack(app, ada, 'pay', { amount: 5 })
    const respond = app.provider.respond
    app.provider.respond = (received, response) =>
      isUpdate(received)
        ? respondJson(response, 200, { ok: false, error: 'message_not_found' })
        : respond(received, response)
    await app.call('POST', `/v1/approvals/${approval}/approve`, {}, { key: ada.session })
    await waitForCall(app, isUpdate)
    await app.clock.advance(60_000)
    expect(app.provider.received.filter(isUpdate)).toHaveLength(1)
    app.provider.respond = respond
    await app.call('POST', `/v1/approvals/${approval}/reject`, { reason: 'too much' }, { key: ada.session })
    await updateIn(app, 'D1', 'Rejected by u1@example.com: too much')
  })
})

eachStore((store) => {
  test('50 clicks at once are one decision and one effect', async () => {
    const app = await openSlackApp(store)
    const ada = await linkSlackMember(app, 'U1')
    const { task, approval, message } = await askInSlack(app, ada, 'archive', { text: 'hello' })
    const click = clickOf(app, 'U1', message, 'approve')
    const responses = await Promise.all(Array.from({ length: 50 }, () => deliverSlack(app, click)))
    expect(responses.every(({ status }) => status === 200)).toBe(true)
    const refused = ephemeralTexts(app).filter((text) => text.startsWith('You have approved this already'))
    expect(refused).toHaveLength(49)
    await passHold(app, approval)
    await app.finished(task)
    expect(callsFor(app, approval)).toHaveLength(1)
  })
})

/** The rewritten message of this conversation that contains the text; waits for it. */
async function updateIn(app: ChatApp, channel: string, text: string): Promise<SlackMessage> {
  const shows = (received: ReceivedRequest) => {
    const message = isUpdate(received) ? readSlackMessage(received) : null
    return message?.channel === channel && JSON.stringify(message.blocks).includes(text)
  }
  return readSlackMessage(await waitForCall(app, shows))
}
