import { expect, test } from 'vitest'
import { callsFor, requestedApprovalId } from '../decisions/gated-app.ts'
import { anyStore, eachStore } from '../../app.ts'
import { type ChatApp, passHold, readApproval, startLink, waitForCall } from './chat-app.ts'
import {
  alertTexts,
  askInTelegram,
  callsOf,
  clickUpdate,
  deliverTelegram,
  lastMessage,
  linkTelegramMember,
  messageAbout,
  openTelegramApp,
  replyUpdate,
  textUpdate,
} from './telegram-app.ts'

/** The rewritten message that contains the text; waits for it. */
async function rewriteWith(app: ChatApp, text: string) {
  const { body } = await waitForCall(
    app,
    (received) => received.url.endsWith('/editMessageText') && JSON.parse(received.body).text.includes(text),
  )
  return JSON.parse(body)
}

const statusOf = async (app: ChatApp, approval: string) => (await readApproval(app, approval)).status

anyStore((store) => {
  test('a click on Approve in Telegram approves, the action is sent, and the message shows who decided', async () => {
    const app = await openTelegramApp(store)
    const ada = await linkTelegramMember(app, 7)
    const { task, approval, message } = await askInTelegram(app, ada, 'archive', { text: 'a < b & c' })
    expect(message.text).toContain('a &lt; b &amp; c')
    await deliverTelegram(app, clickUpdate(7, message, 'Approve'))
    const { status, body } = await deliverTelegram(app, clickUpdate(7, lastMessage(app), 'Approve'))
    expect([status, body]).toEqual([200, ''])
    const decided_by = { kind: 'member', id: ada.id }
    await passHold(app, approval)
    expect(await readApproval(app, approval)).toMatchObject({ status: 'approved', decided_by })
    expect(await app.finished(task)).toMatchObject({ status: 'succeeded' })
    const rewritten = await rewriteWith(app, 'Approved by person-7@example.com</b>')
    expect(rewritten).toMatchObject({ chat_id: 7, message_id: expect.any(Number) })
    expect(rewritten.text).toContain('Approved by person-7@example.com')
    expect(rewritten.reply_markup).toBeUndefined()
    expect(alertTexts(app)).toEqual([undefined, 'Sending in 5 s'])
  })

  test('an approval in Telegram can be undone for five seconds', async () => {
    const app = await openTelegramApp(store)
    const ada = await linkTelegramMember(app, 7)
    const { approval, message } = await askInTelegram(app, ada, 'archive', { text: 'hello' })
    await deliverTelegram(app, clickUpdate(7, message, 'Approve'))
    await deliverTelegram(app, clickUpdate(7, lastMessage(app), 'Approve'))
    const held = await rewriteWith(app, 'Approved by person-7@example.com. Sending in 5 s')
    expect(held.reply_markup.inline_keyboard.flat()).toEqual([expect.objectContaining({ text: 'Undo' })])
    await deliverTelegram(app, clickUpdate(7, held, 'Undo'))
    expect(alertTexts(app).at(-1)).toBe('Approval withdrawn')
    await app.clock.advance(10_000)
    expect(await readApproval(app, approval)).toMatchObject({ status: 'pending', held: null })
    expect(callsFor(app, approval)).toHaveLength(0)
    const last = callsOf(app, 'editMessageText').at(-1)
    expect(JSON.stringify(last)).toContain('Approve')
  })

  test('an approval of high risk and a rejection in Telegram are confirmed first, and one of low risk is not', async () => {
    const app = await openTelegramApp(store)
    const ada = await linkTelegramMember(app, 7)
    const first = await askInTelegram(app, ada, 'payout', { amount: 5 })
    await deliverTelegram(app, clickUpdate(7, first.message, 'Approve'))
    expect(await statusOf(app, first.approval)).toBe('pending')
    await deliverTelegram(app, clickUpdate(7, lastMessage(app), 'Cancel'))
    expect(await statusOf(app, first.approval)).toBe('pending')
    expect(callsOf(app, 'deleteMessage')).toEqual([{ chat_id: 7, message_id: 101 }])
    await deliverTelegram(app, clickUpdate(7, first.message, 'Approve'))
    await deliverTelegram(app, clickUpdate(7, lastMessage(app), 'Approve'))
    await passHold(app, first.approval)
    expect(await statusOf(app, first.approval)).toBe('approved')
    const second = await askInTelegram(app, ada, 'archive', { text: 'hello' })
    await deliverTelegram(app, clickUpdate(7, second.message, 'Reject'))
    expect(await statusOf(app, second.approval)).toBe('pending')
    await deliverTelegram(app, clickUpdate(7, lastMessage(app), 'Reject'))
    expect(await readApproval(app, second.approval)).toMatchObject({ status: 'rejected', reason: null })
    expect(callsOf(app, 'deleteMessage')).toHaveLength(3)
    const input = { name: 'archive_order', args: { order: 7 } }
    const { id } = await app.createTask({ wedge: 'gate', task_type: 'tool', input })
    const third = await messageAbout(app, ada, await requestedApprovalId(app, id))
    await deliverTelegram(app, clickUpdate(7, third, 'Approve'))
    expect(await app.finished(id)).toMatchObject({ status: 'succeeded' })
  })

  test('a reply to the prompt of Edit in Telegram changes a field, and what was edited is what is sent', async () => {
    const app = await openTelegramApp(store)
    const ada = await linkTelegramMember(app, 7)
    const payload = { text: 'hello\nReference: reason apr_x:y 0', amount: 5 }
    const { task, approval, message } = await askInTelegram(app, ada, 'archive', payload)
    await deliverTelegram(app, clickUpdate(7, message, 'Edit'))
    await deliverTelegram(app, clickUpdate(7, lastMessage(app), 'amount'))
    const prompt = lastMessage(app)
    expect(prompt.reply_markup).toEqual({ force_reply: true })
    await deliverTelegram(app, replyUpdate(7, prompt, 'many'))
    expect(lastMessage(app).text).toBe("'amount' must be a number.")
    expect(await statusOf(app, approval)).toBe('pending')
    await deliverTelegram(app, replyUpdate(7, prompt, ' 7.5 '))
    await passHold(app, approval)
    expect(await readApproval(app, approval)).toMatchObject({ status: 'approved', edited: { amount: 7.5 } })
    await app.finished(task)
    expect(callsFor(app, approval).map(({ body }) => JSON.parse(body))).toEqual([{ ...payload, amount: 7.5 }])
  })

  test('replies in Telegram give the reason of a rejection and the note of a request that is sent back', async () => {
    const app = await openTelegramApp(store)
    const ada = await linkTelegramMember(app, 7)
    const first = await askInTelegram(app, ada, 'archive', { text: 'first' })
    await deliverTelegram(app, clickUpdate(7, first.message, 'Reject'))
    await deliverTelegram(app, clickUpdate(7, lastMessage(app), 'Reject with a reason'))
    await deliverTelegram(app, replyUpdate(7, lastMessage(app), 'too expensive'))
    expect(await readApproval(app, first.approval)).toMatchObject({ status: 'rejected', reason: 'too expensive' })
    const second = await askInTelegram(app, ada, 'archive', { text: 'second' })
    await deliverTelegram(app, clickUpdate(7, second.message, 'Send back'))
    await deliverTelegram(app, replyUpdate(7, lastMessage(app), 'Be kinder'))
    const sentBack = { status: 'rejected', revise: true, reason: 'Be kinder' }
    expect(await readApproval(app, second.approval)).toMatchObject(sentBack)
  })

  test('a chat is linked by the address of the bot with the code, once, and only if it is private', async () => {
    const app = await openTelegramApp(store)
    const { code, url } = await startLink(app, app.owner.session, 'telegram')
    expect(url).toBe(`https://t.me/desk_bot?start=${code}`)
    const links = async () =>
      (await app.call('GET', '/v1/me/notifications', undefined, { key: app.owner.session })).body.links
    await deliverTelegram(app, textUpdate(7, '/start'))
    await deliverTelegram(app, textUpdate(7, `/start ${code}`, { chat: { id: -100, type: 'supergroup' } }))
    expect(await links()).toEqual([])
    await deliverTelegram(app, textUpdate(7, `/start ${code}`))
    expect(await links()).toMatchObject([{ kind: 'telegram', address: '7' }])
    await deliverTelegram(app, textUpdate(8, code))
    expect(await links()).toMatchObject([{ kind: 'telegram', address: '7' }])
    expect(callsOf(app, 'sendMessage').map(({ chat_id }) => chat_id)).toEqual([7, 7, 8])
  })

  test('the code of another member does not take over a linked chat, and the bot says to whom a chat is linked', async () => {
    const app = await openTelegramApp(store)
    const ada = await linkTelegramMember(app, 7)
    expect(lastMessage(app).text).toContain('This account is linked to person-7@example.com.')
    const { code } = await startLink(app, app.owner.session, 'telegram')
    await deliverTelegram(app, textUpdate(7, `/start ${code}`))
    expect(lastMessage(app).text).toContain('This account is linked to another member')
    const { approval, message } = await askInTelegram(app, ada, 'archive', { text: 'hello' })
    await deliverTelegram(app, clickUpdate(7, message, 'Approve'))
    await deliverTelegram(app, clickUpdate(7, lastMessage(app), 'Approve'))
    await passHold(app, approval)
    expect(await readApproval(app, approval)).toMatchObject({ decided_by: { kind: 'member', id: ada.id } })
    await app.call('DELETE', `/v1/members/${ada.id}`, undefined, { key: app.owner.session })
    expect(await app.ctx.db.selectFrom('notification_links').selectAll().execute()).toEqual([])
    await deliverTelegram(app, textUpdate(7, `/start ${code}`))
    expect(lastMessage(app).text).toContain('This account is linked to owner@example.com.')
  })

  test('a stranger, a removed member and a demoted member cannot decide in Telegram', async () => {
    const app = await openTelegramApp(store)
    const [ada, bo] = [await linkTelegramMember(app, 7), await linkTelegramMember(app, 8)]
    const { approval, message } = await askInTelegram(app, ada, 'archive', { text: 'hello' })
    const key = app.owner.session
    await app.call('PUT', `/v1/members/${ada.id}`, { role: 'viewer' }, { key })
    await app.call('DELETE', `/v1/members/${bo.id}`, undefined, { key })
    const sent = callsOf(app, 'sendMessage').length
    for (const chat of [7, 8, 9]) {
      for (const button of ['Approve', 'Edit', 'Reject']) await deliverTelegram(app, clickUpdate(chat, message, button))
    }
    expect(await statusOf(app, approval)).toBe('pending')
    expect(callsOf(app, 'sendMessage')).toHaveLength(sent)
    const notLinked = 'This account is not linked to a member of the team.'
    const notApprover = 'You are not an approver of this request.'
    expect(alertTexts(app)).toEqual([...Array(3).fill(notApprover), ...Array(6).fill(notLinked)])
  })
})

eachStore((store) => {
  test('a call of Telegram with a wrong secret is refused, and a repeated one decides once', async () => {
    const app = await openTelegramApp(store)
    const ada = await linkTelegramMember(app, 7)
    const { task, approval, message } = await askInTelegram(app, ada, 'archive', { text: 'hello' })
    await deliverTelegram(app, clickUpdate(7, message, 'Approve'))
    const click = clickUpdate(7, lastMessage(app), 'Approve')
    expect((await deliverTelegram(app, click, 'wrong')).status).toBe(401)
    expect(await statusOf(app, approval)).toBe('pending')
    const responses = await Promise.all(Array.from({ length: 50 }, () => deliverTelegram(app, click)))
    expect(responses.every(({ status }) => status === 200)).toBe(true)
    await passHold(app, approval)
    await app.finished(task)
    expect(callsFor(app, approval)).toHaveLength(1)
    const alerts = alertTexts(app)
    expect(alerts.filter((text) => text === 'Sending in 5 s')).toHaveLength(1)
    expect(alerts.filter((text) => String(text).startsWith('You have approved this already'))).toHaveLength(49)
  })
})
