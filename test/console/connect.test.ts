import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { openAuthorisedServer } from '../connections/mcp/authorised-server.ts'
import { echoTool, openMcpServer } from '../connections/mcp/mcp-server.ts'
import { openUpstreamServer } from '../connections/test-context.ts'
import { respondJson } from '../fake-upstream.ts'
import { accessibilityViolations, consoleFixture, HAS_HORIZONTAL_SCROLL, LAYOUT_SHIFT } from './console-browser.ts'
import { createMembers } from './sample-data.ts'

const PHONE = { width: 390, height: 844 }
const DELETE_TOOL = { name: 'delete_note', description: 'Deletes a note.', inputSchema: { type: 'object' } }

/** An HTTP API that issues tokens, and that accepts the tokens `good` and `issued`. */
const openApi = () =>
  openUpstreamServer(({ url, headers }, response) => {
    if (url === '/token') return respondJson(response, 200, { access_token: 'issued', token_type: 'bearer' })
    const isAllowed = /^Bearer (good|issued)$/.test(headers.authorization ?? '')
    return respondJson(response, isAllowed ? 200 : 401, {})
  })

/** Opens the connect dialog at the details of an entry. */
async function choose(page: Page, entry: RegExp): Promise<void> {
  await page.getByRole('button', { name: 'New connection' }).click()
  await page.getByRole('button', { name: entry }).click()
}

/** Sends the browser back from the provider's page, as if a person had decided there. */
async function answerAsProvider(page: Page, address: string, reply: () => Record<string, string>): Promise<void> {
  await page.context().route(address, (route) => {
    const asked = new URL(route.request().url()).searchParams
    const back = new URL(asked.get('redirect_uri') ?? '')
    back.search = new URLSearchParams({ state: asked.get('state') ?? '', ...reply() }).toString()
    return route.fulfill({ status: 302, headers: { location: back.href } })
  })
}

describe('connect dialog', () => {
  const console = consoleFixture()
  // The provider sends the browser back to this address.
  beforeAll(() => console().restart({ SVC_PUBLIC_URL: console().url }))

  test('catalogue: the search and the keyboard find an entry, and the next step gets the focus', async () => {
    const page = await console().open('/connections')
    await page.getByRole('button', { name: 'New connection' }).click()
    await page.getByRole('button', { name: /^Stripe/ }).waitFor()
    await page.keyboard.type('sms')
    await page.getByRole('button', { name: /^Stripe/ }).waitFor({ state: 'detached' })
    expect(await page.getByRole('dialog').getByRole('listitem').getByRole('button').count()).toBe(1)
    expect(await accessibilityViolations(page)).toEqual([])
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Connect Twilio' }).waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Connect Twilio')
    expect(await page.getByRole('listitem').filter({ hasText: 'Details' }).getAttribute('aria-current')).toBe('step')
    await page.getByLabel('Account SID').waitFor()
    await page.getByText(/Twilio console, Account info/).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
  })

  test('preset: the name, the parameters and the secret make a connection with the operations of the preset', async () => {
    const page = await console().open('/connections')
    await choose(page, /^Twilio/)
    await page.getByLabel('Name', { exact: true }).fill('sms')
    await page.getByLabel('Account SID').fill(`AC${'0'.repeat(32)}`)
    await page.getByLabel('Auth token').fill('twilio-s3cret')
    // The address of the vendor is not reached from a test.
    await page.route('**/v1/connections/*/test', (route) =>
      route.fulfill({ json: { ok: false, checked: 'GET /Balance.json', status: 401, error: 'upstream answered 401' } }),
    )
    await page.getByRole('button', { name: 'Save and test' }).click()
    await page.getByText('Upstream answered 401').waitFor()
    await page.getByRole('button', { name: 'Finish without a test' }).click()
    await page.getByRole('link', { name: 'Open connection' }).click()
    const tools = page.getByRole('region', { name: 'Tools' })
    await tools.getByText('send_message', { exact: true }).waitFor()
    expect(await tools.getByRole('combobox').count()).toBe(0)
    expect(await page.content()).not.toContain('twilio-s3cret')
    expect(await accessibilityViolations(page)).toEqual([])
  })

  test('test: a failure is told in words, and another token passes', async () => {
    const api = await openApi()
    const page = await console().open('/connections', { viewport: PHONE, colorScheme: 'dark' })
    await choose(page, /^HTTP API/)
    await page.getByLabel('Name', { exact: true }).fill('crm')
    await page.getByLabel('Base URL').fill(`${api.url}/v1/`)
    await page.getByLabel('Token', { exact: true }).fill('bad')
    await page.getByRole('button', { name: 'Save and test' }).click()
    await page.getByText('crm does not work yet').waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Change details' }).click()
    expect(await page.getByLabel('Base URL').inputValue()).toBe(`${api.url}/v1/`)
    expect(await page.getByLabel('Token', { exact: true }).inputValue()).toBe('')
    await page.getByLabel('Token', { exact: true }).fill('good')
    await page.getByRole('button', { name: 'Save and test' }).click()
    await page.getByText('crm works').waitFor()
    const { body } = await console().call('GET', '/v1/connections')
    expect(body.data.filter(({ name }: { name: string }) => name === 'crm')).toHaveLength(1)
  })

  test('errors: a taken name is refused inside the dialog', async () => {
    const page = await console().open('/connections')
    await choose(page, /^Webhook/)
    await page.getByLabel('Name', { exact: true }).fill('post')
    await page.getByLabel('URL', { exact: true }).fill('http://127.0.0.1:9/')
    await page.getByRole('button', { name: 'Save and test' }).click()
    await page.getByRole('dialog').getByText("A connection named 'post' already exists").waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
  })

  test('MCP: tools are confirmed in the dialog, and a changed tool is off until it is confirmed again', async () => {
    const server = await openMcpServer([echoTool, DELETE_TOOL])
    const page = await console().open('/connections')
    await choose(page, /^MCP server/)
    await page.getByLabel('Name', { exact: true }).fill('notes')
    await page.getByLabel('Server URL').fill(server.url)
    await page.getByRole('button', { name: 'Save and test' }).click()
    await page.getByText('notes works').waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    const use = page.getByLabel('Use of delete_note')
    await use.waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Confirm delete_note' }).click()
    await page.getByText('Confirmed', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Open connection' }).click()
    await page.getByText('1 tool is off until an admin confirms how agents may use it.').waitFor()

    server.tools = [{ ...echoTool, description: 'Repeats a text loudly.' }, DELETE_TOOL]
    await page.getByRole('button', { name: 'Confirm echo' }).click()
    await page.getByRole('button', { name: 'Confirm echo' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Refresh tools' }).click()
    await page.getByText('Changed', { exact: true }).waitFor()
    await use.selectOption('off')
    const path = new URL(page.url()).pathname
    await expect
      .poll(async () => (await console().call('GET', `/v1${path}/tools`)).body.data)
      .toMatchObject([
        { name: 'echo', state: 'changed' },
        { name: 'delete_note', class: 'off', state: 'confirmed' },
      ])
    expect(await accessibilityViolations(page)).toEqual([])

    const { viewer } = await createMembers(console())
    const readOnly = await console().open(path, { token: viewer, viewport: PHONE, colorScheme: 'dark' })
    await readOnly.getByText('Changed', { exact: true }).waitFor()
    expect(await readOnly.getByRole('main').getByRole('combobox').count()).toBe(0)
    expect(await readOnly.getByRole('main').getByRole('button').count()).toBe(0)
    expect(await readOnly.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
    expect(await accessibilityViolations(readOnly)).toEqual([])
  })

  test("OAuth: the provider's page leads back to the connection, which says what happened", async () => {
    const api = await openApi()
    const page = await console().open('/connections')
    let reply: Record<string, string> = { error: 'access_denied' }
    await answerAsProvider(page, 'https://provider.test/**', () => reply)
    await choose(page, /^HTTP API/)
    await page.getByLabel('Name', { exact: true }).fill('calendar')
    await page.getByLabel('Base URL').fill(`${api.url}/v1/`)
    await page.getByLabel('Authorisation', { exact: true }).selectOption('oauth2')
    await page.getByLabel('Authorisation URL').fill('https://provider.test/authorize')
    await page.getByLabel('Token URL').fill(`${api.url}/token`)
    await page.getByLabel('Client ID').fill('console')
    await page.getByLabel('Client secret').fill('client-s3cret')
    expect(await page.getByLabel('Redirect URI').inputValue()).toBe(`${console().url}/v1/oauth/callback`)
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Save and continue' }).click()
    await page.getByRole('button', { name: 'Continue to the provider' }).click()
    await page.getByRole('alert').getByText('The provider reports that access was denied.').waitFor()
    await page.getByText('Not connected', { exact: true }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])

    reply = { code: 'c0de' }
    await page.getByRole('button', { name: 'Authorise' }).first().click()
    await page.getByText('The account is connected. Test the connection to see that it works.').waitFor()
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText(/^calendar works/).waitFor()
    await page.getByRole('button', { name: 'Reconnect' }).waitFor()
    expect(api.received.at(-1)?.headers.authorization).toBe('Bearer issued')
    expect(await page.content()).not.toContain('client-s3cret')
  })

  test('MCP with OAuth: a person signs in at the server, and its tools are listed', async () => {
    const server = await openAuthorisedServer()
    const page = await console().open('/connections')
    await answerAsProvider(page, `${server.upstream.url}/authorize**`, () => ({ code: 'c0de' }))
    await choose(page, /^MCP server/)
    await page.getByLabel('Name', { exact: true }).fill('wiki')
    await page.getByLabel('Server URL').fill(server.url)
    await page.getByLabel('Authorisation', { exact: true }).selectOption('mcp')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Save and continue' }).click()
    await page.getByRole('button', { name: 'Continue to the provider' }).click()
    await page.getByText('The account is connected. Test the connection to see that it works.').waitFor()
    await page.getByRole('button', { name: 'Refresh tools' }).click()
    await page.getByRole('button', { name: 'Confirm echo' }).waitFor()
    await page.getByRole('button', { name: 'Reconnect' }).waitFor()
  })

  test('connection page: a failing one says why, and shows the wedges that use it', async () => {
    const { body } = await console().call('GET', '/v1/connections')
    const post = body.data.find(({ name }: { name: string }) => name === 'post')
    const page = await console().open(`/connections/${post.id}`, { viewport: PHONE, colorScheme: 'dark' })
    await page.getByRole('link', { name: 'Letters' }).waitFor()
    await page.getByText('Your team').waitFor()
    expect(await page.evaluate(LAYOUT_SHIFT)).toBeLessThan(0.01)
    expect(await accessibilityViolations(page)).toEqual([])
    const dead = { kind: 'custom', name: 'dead', config: { base_url: 'http://127.0.0.1:9/' } }
    const created = (await console().call('POST', '/v1/connections', dead)).body
    await console().call('POST', `/v1/connections/${created.id}/secret`, { value: 'x' })
    await page.goto(`${console().url}/connections/${created.id}`)
    const health = page.getByRole('region', { name: 'Health' })
    await health.getByText('Not tested', { exact: true }).waitFor()
    await console().call('POST', `/v1/connections/${created.id}/test`)
    await page.reload()
    await health.getByText('Failing', { exact: true }).waitFor()
    await health.getByText(/^The server cannot be reached/).waitFor()
    await health.getByRole('button', { name: 'Check the address' }).click()
    const edit = page.getByRole('dialog', { name: 'Edit dead' })
    const api = await openApi()
    await edit.getByLabel('Read base URL').fill(`${api.url}/v1/`)
    expect(await accessibilityViolations(page)).toEqual([])
    await edit.getByRole('button', { name: 'Save' }).click()
    await health.getByText('Not tested', { exact: true }).waitFor()
    await console().call('POST', `/v1/connections/${created.id}/test`)
    await page.reload()
    await health.getByRole('button', { name: 'Replace secret' }).click()
    await page.getByRole('dialog', { name: 'Connect dead' }).getByLabel('Token', { exact: true }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
  })

  test('connections page: a connection is not tested until it has worked, and an unknown host is a wrong address', async () => {
    const config = { base_url: 'http://unknown-host.invalid/' }
    const { id } = (await console().call('POST', '/v1/connections', { kind: 'custom', name: 'typo', config })).body
    await console().call('POST', `/v1/connections/${id}/secret`, { value: 'x' })
    const page = await console().open('/connections')
    const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'typo' }) })
    await card.getByText('Not tested', { exact: true }).waitFor()
    expect(await card.getByText('Connected', { exact: true }).count()).toBe(0)
    await card.getByRole('button', { name: 'Test' }).click()
    await card.getByText(/^The server cannot be reached/).waitFor()
    expect(await card.getByRole('button', { name: 'Replace secret' }).count()).toBe(0)
    await card.getByRole('button', { name: 'Check the address' }).click()
    await page.getByRole('dialog', { name: 'Edit typo' }).getByLabel('Read base URL').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
  })

  test('blueprint checklist: a missing connection is created, gets its secret and is tested in the same dialog', async () => {
    const api = await openApi()
    const ledger = { name: 'ledger', kind: 'custom', config: { base_url: `${api.url}/v1/` } }
    const blueprint = { blueprint: 'books', title: 'Books', wedge: 'letters', requires_connections: [ledger] }
    writeFileSync(join(console().wedgesDir, '../blueprints/books.json'), JSON.stringify(blueprint))
    const page = await console().open('/blueprints?slug=books')
    await page.getByRole('button', { name: 'Create for ledger' }).click()
    const dialog = page.getByRole('dialog', { name: 'Connect ledger' })
    await dialog.getByLabel('Token', { exact: true }).fill('good')
    expect(await accessibilityViolations(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Save and test' }).click()
    await dialog.getByText('ledger works').waitFor()
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByText("Connection 'ledger' has its secret").waitFor()
  })
})
