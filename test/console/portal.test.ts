import type { Locator, Page, Route } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { accessibilityViolations, consoleFixture, HAS_HORIZONTAL_SCROLL } from './console-browser.ts'

const WORK = { wedge: 'quotes', task_type: 'quote' }

describe('client portal', () => {
  const console = consoleFixture()

  test('portal: a link signs in once, after a click, and its token leaves the URL', async () => {
    const { body: client } = await console().call('POST', '/v1/clients', { display_name: 'Grace' })
    const { body: link } = await console().call('POST', `/v1/clients/${client.id}/portal-link`)
    const path = `/portal#${link.token}`
    const page = await console().open(path, { signedIn: false, viewport: { width: 360, height: 700 } })
    await page.getByRole('heading', { name: 'Welcome' }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'Hi Grace' }).waitFor()
    expect(new URL(page.url()).hash).toBe('')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.reload()
    await page.getByRole('heading', { name: 'Hi Grace' }).waitFor()

    const other = await console().open(path, { signedIn: false })
    await other.getByRole('button', { name: 'Continue' }).click()
    await other.getByText(/^This link has expired or was already used\./).waitFor()
    expect(await other.getByRole('button', { name: 'Continue' }).count()).toBe(0)
  })

  test('portal: without a link it says what to do, and a link that is pasted into the open tab works', async () => {
    const page = await console().open('/portal', { signedIn: false })
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])

    const { body: client } = await console().call('POST', '/v1/clients', { display_name: 'Ada' })
    for (const isUsed of [false, true]) {
      const { body: link } = await console().call('POST', `/v1/clients/${client.id}/portal-link`)
      const token = isUsed ? `${link.token}x` : link.token
      // Only the fragment of the address changes, as when the client pastes the link into the open tab.
      await page.goto(`${console().url}/portal#${token}`)
      await page.getByRole('button', { name: 'Continue' }).click()
      // The second link was never valid: a client who is signed in already stays it.
      await page.getByRole('heading', { name: 'Hi Ada' }).waitFor()
      expect(new URL(page.url()).hash).toBe('')
    }
  })

  test('portal: a link to a conversation opens it after the sign-in', async () => {
    const connection = await console().call('POST', '/v1/connections', { kind: 'email', name: 'linked', config: {} })
    const { client_id, thread_id } = await receiveMessage(connection.body.id, 'linked@example.com', WORK, {
      from: { handle: 'lin@example.com', name: 'Lin' },
      subject: 'A lamp',
      body: 'Is it there?',
    })
    const { body: link } = await console().call('POST', `/v1/clients/${client_id}/portal-link`)
    const page = await console().open(`/portal?thread=${thread_id}#${link.token}`, { signedIn: false })
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('log').getByText('Is it there?').waitFor()
    expect(new URL(page.url()).searchParams.get('thread')).toBe(thread_id)
  })

  /** Creates a channel and an inbound message on it. */
  const receiveMessage = async (connection_id: string, address: string, work: object, message: object) => {
    const { body: channel } = await console().call('POST', '/v1/channels', { connection_id, address, ...work })
    return (await console().call('POST', `/v1/channels/${channel.id}/inbound`, message)).body
  }

  test('portal: a conversation shows replies, progress and files', async () => {
    const connection = await console().call('POST', '/v1/connections', { kind: 'email', name: 'mail', config: {} })
    const inbound = await receiveMessage(connection.body.id, 'help@example.com', WORK, {
      from: { handle: 'grace@example.com', name: 'Grace' },
      subject: 'Locked out',
      body: 'I cannot log in.',
    })
    await console().call('POST', '/v1/cases', {
      wedge: 'inbox-triage',
      title: 'Access of Grace',
      client_id: inbound.client_id,
    })
    const { body: link } = await console().call('POST', `/v1/clients/${inbound.client_id}/portal-link`)
    const path = `/portal#${link.token}`
    const page = await console().open(path, { signedIn: false, viewport: { width: 360, height: 700 } })
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('Access of Grace').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])

    await page.getByRole('button', { name: /Locked out/ }).click()
    await page.getByText('I cannot log in.').waitFor()
    await page.getByLabel('Your message').fill('It is urgent.')
    await page.keyboard.press('Enter')
    await page.getByRole('log').getByText('It is urgent.').waitFor()
    await page.locator('[data-ended="true"]').nth(1).waitFor()
    await expect.poll(() => page.getByRole('log').locator('[data-direction="outbound"]').count()).toBe(2)
    // The result is below the answer, on its side.
    await page
      .locator('[role=log] [data-direction="outbound"]')
      .last()
      .getByRole('button', { name: 'Download quote.txt' })
      .waitFor()
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download quote.txt' }).last().click()
    expect((await saved).suggestedFilename()).toBe('quote.txt')
    expect(await page.getByRole('button', { name: /Download (?!quote.txt)/ }).count()).toBe(0)
    expect(await accessibilityViolations(page)).toEqual([])
    await page.reload()
    await page.getByRole('log').getByText('It is urgent.').waitFor()
  })

  test('portal: a message whose answer was lost is sent again as the same message', async () => {
    const connection = await console().call('POST', '/v1/connections', { kind: 'email', name: 'lost', config: {} })
    const { client_id, thread_id } = await receiveMessage(connection.body.id, 'lost@example.com', WORK, {
      from: { handle: 'mary@example.com', name: 'Mary' },
      subject: 'A chair',
      body: 'Is it there?',
    })
    const { body: link } = await console().call('POST', `/v1/clients/${client_id}/portal-link`)
    const expected = /ERR_FAILED/
    const page = await console().open(`/portal?thread=${thread_id}#${link.token}`, { signedIn: false, expected })
    await page.getByRole('button', { name: 'Continue' }).click()
    const field = page.getByLabel('Your message')
    const send = () => page.getByRole('button', { name: 'Send', exact: true }).click()
    const loseAnswer = async (route: Route) => {
      await route.fetch()
      await route.abort()
    }
    await page.route('**/messages', loseAnswer, { times: 1 })
    await field.fill('Any news?')
    await send()
    await page.getByText('You seem to be offline. Try again.').waitFor()
    expect(await field.inputValue()).toBe('Any news?')
    await send()
    await expect.poll(() => field.inputValue()).toBe('')
    // The same words are another message after the first was sent.
    await field.fill('Any news?')
    await send()
    await expect.poll(() => field.inputValue()).toBe('')
    const { messages } = (await console().call('GET', `/v1/threads/${thread_id}`)).body
    const inbound = messages.filter(({ direction }: { direction: string }) => direction === 'inbound')
    expect(inbound.map(({ body }: { body: string }) => body)).toEqual(['Is it there?', 'Any news?', 'Any news?'])
    expect(new Set(inbound.map(({ task_id }: { task_id: string }) => task_id)).size).toBe(3)
  })

  test('portal: on a phone, long titles, words and file names fit the screen, and Send is on it', async () => {
    const connection = (await console().call('GET', '/v1/connections')).body.data[0].id
    const word = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen'.repeat(3)
    const work = { wedge: 'quotes', task_type: 'quote' }
    const inbound = await receiveMessage(connection, 'long@example.com', work, {
      from: { handle: 'long@example.com', name: 'Grace' },
      subject: `Good morning, I have a question about my order of last week: ${word}`,
      body: `Good morning, I have a question about ${word}`,
    })
    const title = 'A case with a rather long title about an order'
    await console().call('POST', '/v1/cases', { wedge: 'inbox-triage', title, client_id: inbound.client_id })
    const { body: link } = await console().call('POST', `/v1/clients/${inbound.client_id}/portal-link`)
    const phone = { width: 390, height: 844 }
    const page = await console().open(`/portal#${link.token}`, { signedIn: false, viewport: phone })
    const expectToFit = async () => {
      expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
      const send = await page.getByRole('button', { name: 'Send', exact: true }).boundingBox()
      expect(send && send.x >= 0 && send.x + send.width <= 390 && send.y + send.height <= 844).toBe(true)
    }
    const attach = async () => {
      const buffer = Buffer.from('a')
      await page.locator('input[type=file]').setInputFiles({ name: `${word}.txt`, mimeType: 'text/plain', buffer })
      await page.getByRole('button', { name: `Remove ${word}.txt` }).waitFor()
      await expectToFit()
    }
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText(title).waitFor()
    expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
    await page.getByRole('button', { name: /Good morning/ }).click()
    const bubble = await page.getByRole('log').getByText(word).first().boundingBox()
    expect(bubble && bubble.x >= 0 && bubble.x + bubble.width <= 390).toBe(true)
    await expectToFit()
    await attach()
    await page.getByLabel('Your message').fill(word)
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('button', { name: `Download ${word}.txt` }).waitFor()
    await page.locator('[data-ended="true"]').nth(1).waitFor()
    await expectToFit()

    const channel = (await console().call('GET', '/v1/channels')).body.data[0].id
    await console().call('PUT', '/v1/brand', { name: word.slice(0, 80), portal_channel_id: channel })
    await page.goto(`${console().url}/portal?new=1`)
    await page.getByLabel('Subject (optional)').fill(word)
    await attach()
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByText('long@example.com').waitFor()
    expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
    await console().call('PUT', '/v1/brand', { name: null, portal_channel_id: null })
  })

  test('portal: a reply from the console appears and replaces the notice about a team member', async () => {
    const connection = (await console().call('GET', '/v1/connections')).body.data[0].id
    const inbound = await receiveMessage(
      connection,
      'letters@example.com',
      { wedge: 'letters', task_type: 'write' },
      {
        from: { handle: 'joan@example.com', name: 'Joan' },
        subject: 'A letter',
        body: 'Did it leave?',
      },
    )
    await console().call('POST', `/v1/tasks/${inbound.task_id}/cancel`)
    const { body: link } = await console().call('POST', `/v1/clients/${inbound.client_id}/portal-link`)
    const portal = await console().open(`/portal#${link.token}`, { signedIn: false })
    await portal.getByRole('button', { name: 'Continue' }).click()
    await portal.getByRole('button', { name: /A letter/ }).click()
    const notice = portal.getByText('A team member will reply shortly')
    await notice.waitFor()

    const page = await console().open(`/conversations/${inbound.thread_id}`)
    const answer = page.getByLabel('Message', { exact: true })
    await answer.fill('It left on Monday.')
    expect(await accessibilityViolations(page)).toEqual([])
    const typeWhileSending = async (on: Page, field: Locator, text: string) => {
      const held = new Promise<Route>((hold) => void on.route('**/messages', hold, { times: 1 }))
      await on.getByRole('button', { name: /^Send/ }).click()
      const sending = await held
      await field.pressSequentially(` ${text}`)
      await sending.continue()
      await expect.poll(() => field.inputValue()).toBe(text)
    }
    await typeWhileSending(page, answer, 'It comes today.')
    await page.getByRole('list', { name: 'Messages' }).getByText('It left on Monday.', { exact: true }).waitFor()
    await portal.getByRole('log').getByText('It left on Monday.', { exact: true }).waitFor()
    await notice.waitFor({ state: 'hidden' })
    await portal.getByLabel('Your message').fill('Thank you.')
    await typeWhileSending(portal, portal.getByLabel('Your message'), 'One more thing')

    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await answer.waitFor({ state: 'hidden' })
  })
})
