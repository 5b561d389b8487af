import { describe, expect, test } from 'vitest'
import {
  accessibilityViolations,
  consoleFixture,
  HAS_HORIZONTAL_SCROLL,
  LAYOUT_SHIFT,
  violationsInBothThemes,
  waitForStatus,
} from './console-browser.ts'
import { createMembers } from './sample-data.ts'

/** A red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>endobj
trailer<</Root 1 0 R>>
%%EOF`

const WIDTHS = [390, 1440]

describe('conversations', () => {
  const console = consoleFixture()
  const create = async (path: string, body: object) => (await console().call('POST', path, body)).body

  /** A channel whose messages start a task of a wedge; each has its own address, so that a test sees only its own. */
  const openChannel = async (address: string, wedge = 'answers', task_type = 'answer'): Promise<string> => {
    const connections = (await console().call('GET', '/v1/connections')).body.data
    const connection_id = connections.find(({ name }: { name: string }) => name === 'post').id
    return (await create('/v1/channels', { connection_id, address, wedge, task_type })).id
  }
  const receive = (channel: string, name: string, subject: string, body: string) =>
    create(`/v1/channels/${channel}/inbound`, { from: { handle: `${name}@example.com`, name }, subject, body })

  test('inbox: an unread conversation is read when it is opened, and the draft is approved with changes', async () => {
    const channel = await openChannel('inbox@example.com')
    const inbound = await receive(channel, 'Grace', 'Locked out', 'I cannot log in.')
    await waitForStatus(console(), inbound.task_id, 'awaiting_approval')
    const page = await console().open('/conversations?filter=unread')
    const list = page.getByRole('region', { name: 'Conversations' })
    await list.getByRole('link', { name: /1 unread.*Grace.*Locked out/ }).click()
    await page.getByRole('log').getByText('I cannot log in.').waitFor()
    await expect.poll(async () => (await console().call('GET', `/v1/threads/${inbound.thread_id}`)).body.unread).toBe(0)

    const draft = page.getByRole('article', { name: 'Draft of the agent' })
    await draft.getByText('Thank you for your message.').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await draft.getByRole('button', { name: 'Edit' }).click()
    await draft.getByLabel('Text of the draft').fill('You can log in again.')
    await draft.getByRole('button', { name: 'Approve with changes' }).click()
    await draft.getByRole('button', { name: /confirm/i }).click()
    await waitForStatus(console(), inbound.task_id, 'succeeded')
    expect(JSON.parse(console().received.at(-1)?.body ?? '')).toMatchObject({ text: 'You can log in again.' })
    await expect.poll(() => draft.count()).toBe(0)
  })

  test('draft: it is sent back with a note, with the keyboard alone', async () => {
    const channel = await openChannel('keys@example.com')
    const first = await receive(channel, 'Ada', 'First', 'One.')
    await waitForStatus(console(), first.task_id, 'awaiting_approval')
    const second = await receive(channel, 'Kim', 'Second', 'Two.')
    await waitForStatus(console(), second.task_id, 'awaiting_approval')
    const page = await console().open('/conversations')
    await page.getByRole('link', { name: /Kim.*Second/ }).waitFor()
    await page.keyboard.press('j')
    await page.waitForURL(`**/conversations/${second.thread_id}`)
    await page.getByRole('log').getByText('Two.').waitFor()
    await page.getByLabel('Message', { exact: true }).fill('Not sent yet')
    await page.getByRole('log').focus()
    await page.keyboard.press('j')
    await page.waitForURL(`**/conversations/${first.thread_id}`)
    await page.getByRole('article', { name: 'Draft of the agent' }).waitFor()
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('')
    await page.keyboard.press('k')
    await page.waitForURL(`**/conversations/${second.thread_id}`)
    await page.getByRole('log').getByText('Two.').waitFor()
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('Not sent yet')
    await page.keyboard.press('j')
    await page.waitForURL(`**/conversations/${first.thread_id}`)
    await page.getByRole('article', { name: 'Draft of the agent' }).waitFor()
    await page.keyboard.press('v')
    await page.keyboard.type('Be more precise.')
    await page.keyboard.press('Enter')
    await page
      .getByText(/Sent back/)
      .first()
      .waitFor()
    const approvals = (await console().call('GET', `/v1/approvals?task_id=${first.task_id}`)).body.data
    expect(approvals.some(({ reason }: { reason: string | null }) => reason === 'Be more precise.')).toBe(true)
  })

  test('draft: it is marked as outdated after a person has answered, and discarded without a mark', async () => {
    const channel = await openChannel('outdated@example.com')
    const inbound = await receive(channel, 'Tove', 'Broken cup', 'My cup is broken.')
    await waitForStatus(console(), inbound.task_id, 'awaiting_approval')
    const page = await console().newPage({ viewport: { width: 390, height: 844 } })
    await page.goto(console().url)
    const needsYou = page.getByRole('region', { name: 'Needs you' })
    await needsYou.getByRole('link', { name: /Broken cup/ }).click()
    await page.waitForURL(`**/conversations/${inbound.thread_id}`)
    const draft = page.getByRole('article', { name: 'Draft of the agent' })
    await draft.getByText('It is sent when you approve it.').waitFor()
    expect(await draft.getByText(/^Outdated/).count()).toBe(0)
    await create(`/v1/threads/${inbound.thread_id}/messages`, { body: 'A new one is on its way.' })
    await draft.getByText(/^Outdated: .* has answered since\.$/).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await draft.getByRole('button', { name: /^Reject draft/ }).click()
    await draft.getByRole('button', { name: /^Reject draft/ }).click()
    await waitForStatus(console(), inbound.task_id, 'rejected')
    await draft.waitFor({ state: 'detached' })
    expect((await console().call('GET', `/v1/threads/${inbound.thread_id}`)).body.unanswered).toBe(null)
  })

  test('list: a chat shows its service, a name for its visitor and its first words', async () => {
    const connections = (await console().call('GET', '/v1/connections')).body.data
    const binding = { connection_id: connections[0].id, wedge: 'quotes', task_type: 'quote', address: 'shop' }
    const config = { origins: ['https://shop.example'] }
    const channel = (await create('/v1/channels', { ...binding, adapter: 'widget', config })).id
    const from = { handle: 'visitor:03a465d703a465d703a465d703a465d7' }
    await create(`/v1/channels/${channel}/inbound`, { from, body: 'Do you have green tea?' })
    const page = await console().open('/conversations')
    await page.getByRole('link', { name: /Website visitor 03a4.*Website/ }).click()
    await page.getByRole('heading', { name: 'Do you have green tea?' }).waitFor()
    expect(await page.getByText('No subject').count()).toBe(0)
  })

  test('approvals: the client of a chat has the name of its visitor', async () => {
    const channel = await openChannel('visitors@example.com')
    const from = { handle: 'visitor:14b576e814b576e814b576e814b576e8' }
    const { body } = await console().call('POST', `/v1/channels/${channel}/inbound`, { from, body: 'Hello' })
    await waitForStatus(console(), body.task_id, 'awaiting_approval')
    const [approval] = (await console().call('GET', `/v1/approvals?task_id=${body.task_id}`)).body.data
    const page = await console().open(`/approvals?id=${approval.approval_id}`)
    await page.getByRole('link', { name: 'Website visitor 14b5' }).waitFor()
    await page.getByText('answers · Website visitor 14b5').waitFor()
  })

  test('tasks: a task that waits for an earlier message of its conversation says so', async () => {
    const channel = await openChannel('waits@example.com')
    const first = await receive(channel, 'Wanda', 'Parcel', 'Where is my parcel?')
    await waitForStatus(console(), first.task_id, 'awaiting_approval')
    const second = await receive(channel, 'Wanda', 'Parcel', 'And my invoice?')
    const page = await console().open('/tasks')
    await page.getByRole('link', { name: /Waits for an earlier message.*And my invoice/ }).waitFor()
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
    await page.goto(`${console().url}/tasks/${second.task_id}`)
    await page.setViewportSize({ width: 1440, height: 900 })
    const status = page.getByText('Waits for an earlier message', { exact: true })
    await status.waitFor()
    const [badge, cell] = [await status.boundingBox(), await status.locator('..').boundingBox()]
    expect(badge?.width).toBeLessThanOrEqual(cell?.width ?? 0)
  })

  test('an unverified mail is marked, with the address that sent it', async () => {
    const connection_id = (await create('/v1/connections', { kind: 'email', name: 'mail' })).id
    const address = { connection_id, address: 'help@shop.example', adapter: 'postmark' }
    const channel = await create('/v1/channels', { ...address, wedge: 'quotes', task_type: 'quote' })
    await create(`/v1/channels/${channel.id}/secret`, { value: 'password' })
    const mail = {
      FromFull: { Email: 'noreply@forms.example' },
      ReplyTo: 'kim@client.example',
      TextBody: 'Transfer it.',
    }
    const response = await fetch(`${console().url}/v1/hooks/${channel.id}`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa('any:password')}` },
      // An automatic mail starts no task, so no approval is left for the other tests.
      body: JSON.stringify({ ...mail, Headers: [{ Name: 'Auto-Submitted', Value: 'auto-generated' }] }),
    })
    const { thread_id }: { thread_id: string } = JSON.parse(await response.text())
    const page = await console().newPage({ viewport: { width: 390, height: 844 } })
    await page.goto(`${console().url}/conversations/${thread_id}`)
    const messages = page.getByRole('log')
    await messages.getByText('Sender not verified').waitFor()
    await messages.getByText(/Sent for kim@client\.example by noreply@forms\.example\./).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
  })

  test('composer: a member takes over, answers with a file that everybody can preview, and gives back', async () => {
    const { operator } = await createMembers(console())
    const channel = await openChannel('hold@example.com', 'quotes', 'quote')
    const inbound = await receive(channel, 'Noor', 'Invoice', 'Please send the invoice again.')
    await waitForStatus(console(), inbound.task_id, 'succeeded')
    // The viewer of a PDF file runs the script with which the test signs in, and has no storage.
    const expected = /reading 'getItem'/
    const page = await console().open(`/conversations/${inbound.thread_id}`, { token: operator, expected })
    await page.getByRole('button', { name: 'Take over' }).click()
    await page.getByText(/has taken over/).waitFor()
    await page.locator('input[type=file]').setInputFiles([
      { name: 'photo.png', mimeType: 'image/png', buffer: Buffer.from(PNG, 'base64') },
      { name: 'terms.pdf', mimeType: 'application/pdf', buffer: Buffer.from(PDF) },
      { name: 'prices.csv', mimeType: 'text/csv', buffer: Buffer.from('item,price\n"Tea, green",4') },
    ])
    await expect.poll(() => page.getByRole('list', { name: 'Attached files' }).getByRole('listitem').count()).toBe(3)
    await page.keyboard.press('c')
    await page.keyboard.type('Here it is.')
    await page.keyboard.press('Control+Enter')
    const log = page.getByRole('log')
    await log.getByText('Here it is.').waitFor()
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('')

    await log.getByRole('button', { name: 'Preview prices.csv' }).click()
    const dialog = page.getByRole('dialog', { name: 'Preview of prices.csv' })
    await dialog.getByRole('cell', { name: 'Tea, green' }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await log.getByRole('button', { name: 'Preview photo.png' }).click()
    await page.getByRole('dialog').getByRole('img', { name: 'photo.png' }).waitFor()
    await expect.poll(() => page.evaluate(`document.querySelector('dialog img').naturalWidth`)).toBe(1)
    await page.keyboard.press('Escape')
    await log.getByRole('button', { name: 'Preview terms.pdf' }).click()
    const frame = page.getByRole('dialog').locator('iframe[title="terms.pdf"]')
    await frame.waitFor()
    expect(await frame.getAttribute('src')).toMatch(/^blob:/)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Give back' }).click()
    await page.getByRole('button', { name: 'Take over' }).waitFor()
  })

  test('side panel: a case is opened about the conversation, and a message that arrives is shown at once', async () => {
    const channel = await openChannel('live@example.com', 'quotes', 'quote')
    const inbound = await receive(channel, 'Omar', 'Delivery', 'Where is it?')
    await waitForStatus(console(), inbound.task_id, 'succeeded')
    const page = await console().open(`/conversations/${inbound.thread_id}`)
    await page.getByRole('button', { name: 'Open a case' }).click()
    await page.getByRole('dialog').getByLabel('Wedge').selectOption('inbox-triage')
    await page.getByRole('dialog').getByRole('button', { name: 'Create case' }).click()
    await page.getByRole('link', { name: 'Delivery' }).last().waitFor()
    const { data } = (await console().call('GET', `/v1/cases?thread_id=${inbound.thread_id}`)).body
    expect(data).toMatchObject([{ title: 'Delivery', client_id: inbound.client_id }])

    await receive(channel, 'Omar', 'Delivery', 'It has arrived, thank you.')
    await page.getByRole('log').getByText('It has arrived, thank you.').waitFor()
  })

  test('unanswered: the list, the home page and the conversation show it until a person dismisses it', async () => {
    const channel = await openChannel('mark@example.com')
    const inbound = await receive(channel, 'Linus', 'Refund', 'I want my money back.')
    await waitForStatus(console(), inbound.task_id, 'awaiting_approval')
    await console()
      .app.ctx.db.updateTable('threads')
      .set({ unanswered_at: new Date().toISOString(), unanswered_reason: 'rejected' })
      .where('id', '=', inbound.thread_id)
      .execute()
    const page = await console().open('/')
    await page
      .getByRole('region', { name: 'Needs you' })
      .getByRole('link', { name: /Unanswered customer Linus/ })
      .click()
    await page.waitForURL(`**/conversations/${inbound.thread_id}`)
    await page.getByText('The task was rejected, so the client has no answer.').waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await page.getByText('The task was rejected, so the client has no answer.').waitFor({ state: 'detached' })
    const { body } = await console().call('GET', `/v1/threads/${inbound.thread_id}`)
    expect(body.unanswered).toBe(null)
  })

  test('old address: a link to a thread leads to its conversation', async () => {
    const channel = await openChannel('old@example.com', 'quotes', 'quote')
    const inbound = await receive(channel, 'Ines', 'Old link', 'Hello.')
    const page = await console().open(`/threads/${inbound.thread_id}`)
    await page.waitForURL(`**/conversations/${inbound.thread_id}`)
    await page.getByRole('log').getByText('Hello.').waitFor()
  })

  test.each(WIDTHS)('conversations: they fit a width of %i pixels and are accessible in both themes', async (width) => {
    const channel = await openChannel(`fit-${width}@example.com`)
    const inbound = await receive(
      channel,
      'Maximiliane',
      'A subject that is longer than the list is wide',
      'Word '.repeat(60),
    )
    await waitForStatus(console(), inbound.task_id, 'awaiting_approval')
    const page = await console().newPage({ viewport: { width, height: 844 } })
    for (const path of ['/conversations', `/conversations/${inbound.thread_id}`]) {
      await page.goto(console().url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      if (path !== '/conversations') await page.getByRole('article', { name: 'Draft of the agent' }).waitFor()
      expect(await page.evaluate(LAYOUT_SHIFT), path).toBeLessThan(0.1)
      expect(await violationsInBothThemes(page), path).toEqual([])
      expect(await page.evaluate(HAS_HORIZONTAL_SCROLL), path).toBe(false)
    }
    if (width === 390) {
      await page.getByRole('button', { name: 'Details' }).click()
      await page.getByRole('complementary', { name: 'About this conversation' }).getByText('Client').waitFor()
      expect(await violationsInBothThemes(page)).toEqual([])
      await page.getByRole('link', { name: 'All conversations' }).click()
      await page.waitForURL('**/conversations')
    }
  })
})
