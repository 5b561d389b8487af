import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { openFakeUpstream, respondJson } from '../fake-upstream.ts'
import { accessibilityViolations, consoleFixture, HAS_HORIZONTAL_SCROLL } from './console-browser.ts'

const PHONE = { width: 390, height: 844 }
/** How often the first page of the portal asks for changes. */
const POLL_MS = 10_000
const DESKTOP = { width: 1440, height: 900 }
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** The computed background of the first element that a CSS selector finds. */
const backgroundOf = (page: Page, selector: string): Promise<string> =>
  page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).backgroundColor`)

async function expectAccessible(page: Page): Promise<void> {
  expect(await accessibilityViolations(page)).toEqual([])
  expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
}

describe('portal with a brand', () => {
  const console = consoleFixture()

  /** A client with a session link, on the channel of a wedge that replies with a file. */
  const createClient = async (handle: string, name: string) => {
    const channel = await portalChannel()
    const message = { from: { handle, name }, subject: 'Locked out', body: 'I cannot log in.' }
    const inbound = (await console().call('POST', `/v1/channels/${channel}/inbound`, message)).body
    const { body: link } = await console().call('POST', `/v1/clients/${inbound.client_id}/portal-link`)
    const { pathname, search, hash } = new URL(link.url)
    return { ...inbound, path: pathname + search + hash }
  }

  const portalChannel = async (): Promise<string> => {
    const known = (await console().call('GET', '/v1/channels')).body.data[0]
    if (known) return known.id
    const mail = { kind: 'email', name: 'inbox', config: {} }
    const connection_id = (await console().call('POST', '/v1/connections', mail)).body.id
    const binding = { connection_id, address: 'help@example.com', wedge: 'quotes', task_type: 'quote' }
    return (await console().call('POST', '/v1/channels', binding)).body.id
  }

  test('settings: an admin sets the brand with a live preview', async () => {
    await portalChannel()
    for (const [viewport, colorScheme] of [
      [DESKTOP, 'light'],
      [PHONE, 'dark'],
    ] as const) {
      const page = await console().open('/settings?view=brand', { viewport, colorScheme })
      const preview = page.getByRole('img', { name: 'Preview of the portal' })
      await preview.waitFor()
      await page.getByLabel('Name', { exact: true }).fill('Teapot Shop')
      await preview.getByText('Teapot Shop').first().waitFor()
      await page.getByRole('textbox', { name: 'Colour', exact: true }).fill('#ffd400')
      await page.getByLabel('Language').selectOption('de')
      await preview.getByText('Neues Gespräch').waitFor()
      await page.getByRole('button', { name: 'Dark', exact: true }).click()
      await expect.poll(() => backgroundOf(page, '[role=img][data-theme]')).toBe('rgb(14, 17, 22)')
      await expectAccessible(page)
    }
    const page = await console().open('/settings?view=brand')
    await page.getByLabel('Name', { exact: true }).fill('Teapot Shop')
    await page.getByRole('textbox', { name: 'Colour', exact: true }).fill('#0b7a5d')
    await page.getByLabel('Welcome text').fill('Ask us anything.')
    await page.locator('input[type=file][data-field="Logo"]').setInputFiles({
      name: 'logo.png',
      mimeType: 'image/png',
      buffer: PNG,
    })
    await page.getByRole('button', { name: 'Remove Logo' }).waitFor()
    await page.getByLabel('New conversations go to').selectOption({ label: 'help@example.com' })
    await page.getByRole('button', { name: 'Save brand' }).click()
    await page.getByText('Brand saved').waitFor()
    const brand = (await console().call('GET', '/v1/brand')).body
    expect(brand).toMatchObject({ name: 'Teapot Shop', color: '#0b7a5d', welcome: 'Ask us anything.', language: 'en' })
    const logo = await fetch(console().url + brand.logo_url)
    expect([logo.status, logo.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(Buffer.from(await logo.arrayBuffer()).equals(PNG)).toBe(true)
  })

  test('portal: the brand gives name, logo, icon, colour and language', async () => {
    await console().call('PUT', '/v1/brand', { name: 'Teeladen', color: '#0b7a5d', language: 'de' })
    for (const [viewport, colorScheme] of [
      [DESKTOP, 'light'],
      [PHONE, 'dark'],
    ] as const) {
      const page = await console().open('/portal?project=default', { signedIn: false, viewport, colorScheme })
      await page.getByRole('heading', { name: 'Anmelden' }).waitFor()
      await page.getByText('Teeladen', { exact: true }).waitFor()
      expect([await page.title(), await page.evaluate('document.documentElement.lang')]).toEqual(['Teeladen', 'de'])
      expect(await page.evaluate(`document.querySelector('link[rel=icon]').href`)).toContain('/v1/portal/brand/logo?')
      await expectAccessible(page)
    }
  })

  test('portal: a client begins a conversation with a file and gets the result as text and file', async () => {
    const channel = await portalChannel()
    await console().call('PUT', '/v1/brand', { name: 'Teapot Shop', language: 'en', portal_channel_id: channel })
    const client = await createClient('grace@example.com', 'Grace Hopper')
    const page = await console().open(client.path, { signedIn: false, viewport: PHONE })
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'Hi Grace' }).waitFor()
    await page.getByText('I cannot log in.').or(page.getByText('Here is your quote.')).first().waitFor()
    await expectAccessible(page)
    const begin = page.getByRole('button', { name: 'New conversation' })
    expect(await backgroundOf(page, 'main button')).toBe('rgb(11, 122, 93)')
    await begin.click()
    await page.getByLabel('Subject (optional)').fill('Price of a teapot')
    await page.getByLabel('Your message').fill('What does this one cost?')
    const files = [
      { name: 'photo.png', mimeType: 'image/png', buffer: PNG },
      { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('blue') },
    ]
    await page.locator('input[type=file]').setInputFiles(files)
    await page.getByRole('button', { name: 'Remove photo.png' }).waitFor()
    await page.getByRole('button', { name: 'Remove note.txt' }).click()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('heading', { name: 'Price of a teapot' }).waitFor()
    await page.getByRole('log').getByText('Here is your quote.').waitFor()
    await page.getByRole('log').getByText('Teapot Shop').waitFor()
    await page.getByRole('button', { name: 'Download photo.png' }).waitFor()
    await page.getByRole('log').locator('img').waitFor()
    expect(await page.getByText('note.txt').count()).toBe(0)
    await page.getByRole('button', { name: 'Download quote.txt' }).waitFor()
    await page.getByText(/^\d+ steps$/).click()
    await page.getByText('Writing a document').first().waitFor()
    await expectAccessible(page)
    const { data } = (await console().call('GET', `/v1/threads?client_id=${client.client_id}`)).body
    expect(data).toHaveLength(2)
    await page.getByRole('button', { name: 'All conversations' }).click()
    await page.getByRole('button', { name: /Price of a teapot/ }).waitFor()
  })

  test('portal: unread answers are marked until the conversation is opened', async () => {
    const client = await createClient('joan@example.com', 'Joan')
    await console().call('POST', `/v1/threads/${client.thread_id}/messages`, { body: 'It is unlocked.' })
    const page = await console().open(client.path, { signedIn: false, colorScheme: 'dark' })
    await page.getByRole('button', { name: 'Continue' }).click()
    const mark = page.getByRole('img', { name: 'New answer' })
    await mark.waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: /Locked out/ }).click()
    await page.getByRole('log').getByText('It is unlocked.').waitFor()
    await mark.waitFor({ state: 'hidden' })
    await expectAccessible(page)
    const { data } = (await console().call('GET', `/v1/audit?limit=50`)).body
    expect(data.map(({ action }: { action: string }) => action)).toContain('thread.read')
  })

  test('portal: a client asks for a new link, uses another device, stops mails and signs out', async () => {
    const upstream = await openFakeUpstream()
    upstream.respond = (_, response) => respondJson(response, 200, {})
    const config = { provider: 'postmark', from: 'shop@example.com', base_url: upstream.url }
    const connection = { kind: 'email', name: 'outbox', config }
    const mail_connection_id = (await console().call('POST', '/v1/connections', connection)).body.id
    await console().call('POST', `/v1/connections/${mail_connection_id}/secret`, { value: 'token' })
    await console().call('PUT', '/v1/brand', { mail_connection_id, notify: true })
    const client = await createClient('lin@example.com', 'Lin')
    const options = { signedIn: false, viewport: PHONE, permissions: ['clipboard-write'], movesClock: true }
    const page = await console().open('/portal?project=default', options)
    await page.getByLabel('Your email address').fill('lin@example.com')
    await page.getByRole('button', { name: 'Send me a new link' }).click()
    await page.getByText('If we know this address').waitFor()
    await expectAccessible(page)
    await expect.poll(() => upstream.received).toHaveLength(1)
    const text: string = JSON.parse(upstream.received[0]?.body ?? '{}').TextBody
    const link = new URL(/http\S+/.exec(text)?.[0] ?? '')
    // The page reloads itself, because only the fragment changes.
    await page.goto(console().url + link.pathname + link.search + link.hash)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Account' }).click()
    const notices = page.getByLabel('Send me a mail when there is a new answer')
    await notices.uncheck()
    await page.getByRole('button', { name: 'Use another device' }).click()
    const url = new URL((await page.locator('dialog code').textContent()) ?? '')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Copy', exact: true }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const me = (await console().call('GET', `/v1/clients/${client.client_id}`)).body
    expect(me.display_name).toBe('Lin')

    const other = await console().open(url.pathname + url.search + url.hash, { signedIn: false })
    await other.getByRole('button', { name: 'Continue' }).click()
    await other.getByRole('heading', { name: 'Hi Lin' }).waitFor()
    await other.getByRole('button', { name: 'Account' }).click()
    expect(await other.getByLabel('Send me a mail when there is a new answer').isChecked()).toBe(false)
    await other.getByRole('button', { name: 'Sign out on all devices' }).click()
    await other.getByRole('heading', { name: 'You are signed out' }).waitFor()
    // The other device notices it without a reload, says so and offers a new link.
    await page.clock.fastForward(POLL_MS)
    await page.getByText('Your session has ended. Ask for a new link.').waitFor()
    await page.getByRole('button', { name: 'Send me a new link' }).waitFor()
    await expectAccessible(page)
    await upstream.close()
  })

  test('portal: PDF, tables, Markdown, JSON and text open in a preview, other files do not', async () => {
    const client = await createClient('mary@example.com', 'Mary')
    const session = await console().open(client.path, { signedIn: false, viewport: PHONE })
    await session.getByRole('button', { name: 'Continue' }).click()
    await session.getByRole('button', { name: /Locked out/ }).click()
    const names = ['a.csv', 'b.md', 'c.json', 'd.txt', 'e.pdf', 'f.html']
    const contents = [
      'name;size\nTeapot;"large; blue"',
      '# Prices',
      '{"price": 12}',
      'plain <b>text</b>',
      '%PDF-1.4',
      '<p>',
    ]
    const files = names.map((name, n) => ({ name, mimeType: '', buffer: Buffer.from(contents[n] ?? '') }))
    await session.locator('input[type=file]').setInputFiles(files)
    for (const name of names) await session.getByRole('button', { name: `Remove ${name}` }).waitFor()
    await session.getByRole('button', { name: 'Send' }).click()
    await session.getByRole('button', { name: 'Download f.html' }).waitFor()
    expect(await session.getByRole('button', { name: 'Show f.html' }).count()).toBe(0)
    const dialog = session.getByRole('dialog')
    for (const [name, shown] of [
      ['a.csv', dialog.getByRole('cell', { name: 'large; blue' })],
      ['b.md', dialog.getByText('Prices')],
      ['c.json', dialog.getByText('12')],
      ['d.txt', dialog.getByText('plain <b>text</b>')],
      ['e.pdf', dialog.locator('iframe[src^="blob:"]')],
    ] as const) {
      await session.getByRole('button', { name: `Show ${name}` }).click()
      await shown.waitFor()
      if (name !== 'e.pdf') await expectAccessible(session)
      await dialog.getByRole('button', { name: 'Close' }).click()
      await dialog.waitFor({ state: 'hidden' })
    }
  })

  test('portal: the page of an unsubscribe link promises nothing before the click, and names an invalid link', async () => {
    const path = '/portal?project=default&unsubscribe#svc_uns_wrong'
    const page = await console().open(path, { signedIn: false, viewport: PHONE })
    await page.getByText('Press the button to stop the mails').waitFor()
    expect(await page.getByText('You will get no more mails').count()).toBe(0)
    await page.getByRole('button', { name: 'Stop these mails' }).click()
    await page.getByText('This link is not valid any more.').waitFor()
    await expectAccessible(page)
  })

  test('portal: a file that is too large is refused with the limit', async () => {
    const client = await createClient('rosa@example.com', 'Rosa')
    await console().call('PUT', '/v1/brand', { language: 'de' })
    const page = await console().open(client.path, { signedIn: false, expected: /status of 413/ })
    await page.getByRole('button', { name: 'Weiter' }).click()
    await page.getByRole('button', { name: /Locked out/ }).click()
    // The browser reads it from the disk; bytes in memory would go through its remote control.
    const large = join(console().wedgesDir, '../large.bin')
    writeFileSync(large, Buffer.alloc(10 * 1024 * 1024 + 1))
    await page.locator('input[type=file]').setInputFiles(large)
    await page.getByText('large.bin: Diese Datei ist größer als 10 MB.').waitFor()
    const small = { name: 'small.bin', mimeType: '', buffer: Buffer.alloc(135_885) }
    await page.locator('input[type=file]').setInputFiles(small)
    await page.getByText('132,7 kB').waitFor()
  })

  test('settings: a file that is no image and a wrong colour are refused with their own words', async () => {
    const page = await console().open('/settings?view=brand')
    const note = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('no image') }
    await page.locator('input[type=file][data-field="Logo"]').setInputFiles(note)
    await page.getByText('note.txt is not an image.').waitFor()
    await page
      .locator('input[type=file][data-field="Logo"]')
      .setInputFiles({ ...note, name: 'note.png', mimeType: 'image/png' })
    await page.getByText('note.png is not an image.').waitFor()
    const color = page.getByRole('textbox', { name: 'Colour', exact: true })
    await color.fill('red')
    const problem = await page.evaluate(`document.querySelector('input.font-mono').validationMessage`)
    expect(problem).toContain('six digits')
  })
})
