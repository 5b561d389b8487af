import { describe, expect, test } from 'vitest'
import { FOUNDER_KEY } from '../app.ts'
import { callApi } from '../http.ts'
import { accessibilityViolations, consoleFixture } from './console-browser.ts'

const PASSWORD = 'correct horse battery'

describe('sign-in and the end of a session', () => {
  const console = consoleFixture({ SVC_OPEN_SIGNUP: '1' })
  const signUp = async (email: string): Promise<string> =>
    (await callApi(console().url, '', 'POST', '/v1/auth/signup', { email, password: PASSWORD })).body.session_token

  test('sign-in: a wrong API key gets a sentence that says so', async () => {
    const page = await console().open('/sign-in', { signedIn: false })
    await page.getByRole('button', { name: 'API key' }).click()
    await page.getByLabel('API key').last().fill('svc_key_wrong')
    await page.getByRole('button', { name: 'Continue' }).click()
    expect(await page.getByRole('alert').textContent()).toBe('This API key is unknown or was revoked.')
    expect(await page.evaluate(`sessionStorage.getItem('svc.token')`)).toBe(null)
  })

  test('session: when it ends, a dialog asks for the password and the filled-in form stays', async () => {
    const token = await signUp('ada@example.com')
    const page = await console().open('/run?wedge=refund-desk&task_type=handle_request', { token })
    await page.getByLabel('Order id').fill('Z-99')
    await callApi(console().url, token, 'POST', '/v1/auth/logout')
    // The dialog may be there before the click, because the live stream ends with the session.
    await page.getByRole('button', { name: 'Run', exact: true }).dispatchEvent('click')
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByText('ada@example.com').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await dialog.getByLabel('Password').fill('wrong')
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.getByText('Email or password is wrong').waitFor()
    await dialog.getByLabel('Password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await page.getByLabel('Order id').inputValue()).toBe('Z-99')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.waitForURL('**/tasks/task_*')
    await page.getByRole('status').getByText('Live', { exact: true }).waitFor()
  })

  test('session: a revoked API key can be replaced, and only by a valid one', async () => {
    const { body: key } = await console().call('POST', '/v1/keys', { name: 'short-lived', role: 'operator' })
    const page = await console().open('/tasks', { token: key.key })
    await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor()
    await console().call('DELETE', `/v1/keys/${key.id}`)
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByLabel('API key').fill('svc_key_wrong')
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.getByText('This API key is unknown or was revoked.').waitFor()
    await dialog.getByLabel('API key').fill(FOUNDER_KEY)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await page.evaluate(`sessionStorage.getItem('svc.token')`)).toBe(FOUNDER_KEY)
  })

  test('session: a page that is opened after the end of the session leads to a sign-in that says why', async () => {
    const token = await signUp('grace@example.com')
    await callApi(console().url, token, 'POST', '/v1/auth/logout')
    const page = await console().open('/tasks', { token })
    await page.waitForURL('**/sign-in?to=%2Ftasks')
    await page.getByText('Your session has ended. Sign in again.').waitFor()
  })
})
