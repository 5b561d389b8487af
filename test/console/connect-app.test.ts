import { randomUUID } from 'node:crypto'
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import { openFakeUpstream } from '../fake-upstream.ts'
import { callApi } from '../http.ts'
import { memoryProvider } from '../server/mcp/oauth-app.ts'
import { accessibilityViolations, consoleFixture } from './console-browser.ts'

const PASSWORD = 'correct horse battery'

describe('the consent page for apps', () => {
  const console = consoleFixture({ SVC_OPEN_SIGNUP: '1' })

  /** An app that was just added by the URL of the service, and the page that it wants to open. */
  async function addApp() {
    const { url } = console()
    await console().restart({ SVC_PUBLIC_URL: url })
    const receiver = await openFakeUpstream()
    const opened: URL[] = []
    const provider = memoryProvider(`${receiver.url}/callback`, (page) => opened.push(page))
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: provider })
    await expect(new Client({ name: 'app', version: '1' }).connect(transport)).rejects.toThrow(UnauthorizedError)
    const [page] = opened
    if (!page) throw new Error('the app has opened no page')
    return { receiver, provider, transport, path: page.pathname + page.search }
  }

  const signUp = async () => {
    const email = `${randomUUID()}@example.com`
    const { body } = await callApi(console().url, '', 'POST', '/v1/auth/signup', { email, password: PASSWORD })
    return { email, token: body.session_token as string }
  }

  test('a member signs in, allows an app with a role, and the app runs a task; Settings revoke the access', async () => {
    const { email, token } = await signUp()
    const { receiver, provider, transport, path } = await addApp()
    const page = await console().open(path, { signedIn: false, expected: /401|favicon/ })
    await page.getByRole('button', { name: 'Sign in' }).first().click()
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).last().click()
    await page.getByRole('heading', { name: 'Connect Assistant?' }).waitFor()
    await page.getByText(new URL(receiver.url).host).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    expect(await page.getByLabel('Role').inputValue()).toBe('operator')
    await page.getByRole('button', { name: 'Allow access' }).click()
    await page.waitForURL(`${receiver.url}/callback?**`)
    await transport.finishAuth(new URL(page.url()).searchParams)
    const client = new Client({ name: 'app', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${console().url}/mcp`), { authProvider: provider }))
    const listed = await client.callTool({ name: 'list_wedges', arguments: {} })
    expect(listed.isError).toBe(false)
    const settings = await console().open('/settings?view=keys', { token })
    const row = settings.getByRole('region', { name: 'Connected apps' }).getByRole('row', { name: 'Assistant' })
    await row.getByText(email).waitFor()
    expect(await accessibilityViolations(settings)).toEqual([])
    await row.getByRole('button', { name: 'Revoke' }).click()
    await settings.getByRole('button', { name: 'Revoke' }).last().click()
    await settings.getByText('No connected apps yet').waitFor()
    await expect(client.callTool({ name: 'list_wedges', arguments: {} })).rejects.toThrow()
    await client.close()
    await receiver.close()
  })

  test('cancel returns to the app without access, at the width of a phone in the dark', async () => {
    const { token } = await signUp()
    const { receiver, path } = await addApp()
    const viewport = { width: 390, height: 844 }
    const page = await console().open(path, { token, viewport, colorScheme: 'dark', expected: /favicon/ })
    await page.getByRole('heading', { name: 'Connect Assistant?' }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.waitForURL(`${receiver.url}/callback?**`)
    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
    const listed = await callApi(console().url, token, 'GET', '/v1/mcp-authorisations')
    expect(listed.body.data).toEqual([])
    await receiver.close()
  })

  test('an unknown app, a wrong request and an API key get no form', async () => {
    const { token } = await signUp()
    const { receiver, path } = await addApp()
    const changed = (name: string, value: string) => {
      const url = new URL(path, console().url)
      url.searchParams.set(name, value)
      return url.pathname + url.search
    }
    const unknown = await console().open(changed('client_id', 'app_other'), { token, expected: /400/ })
    await unknown.getByRole('alert').getByText('is not a registered app').waitFor()
    const wrong = await console().open(changed('resource', 'https://other.example/mcp'), { token, expected: /favicon/ })
    await wrong.getByRole('alert').getByText('resource must be').waitFor()
    await wrong.getByRole('button', { name: 'Back to the app' }).click()
    await wrong.waitForURL(`${receiver.url}/callback?**error=invalid_target**`)
    const key = await console().open(path)
    await key.getByText('Sign in with an account to connect an app.').waitFor()
    expect(await key.getByRole('button', { name: 'Allow access' }).count()).toBe(0)
    await receiver.close()
  })
})
