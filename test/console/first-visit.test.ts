import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { barriers, sharedConsole } from './browser.ts'

async function signUp(page: Page) {
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByLabel('Organisation').fill('Larkspur')
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('Password').fill('correct horse battery')
  await page.getByRole('button', { name: 'Create the account' }).click()
}

const current = (page: Page) => page.locator('[aria-current="step"]')

describe('the first visit on a fresh start', () => {
  const console = sharedConsole()

  test('leads step by step: look, run offline, approve, watch it finish, connect a real model', async () => {
    const page = await console().open('/', { signedIn: false })
    await signUp(page)
    const home = async (step: string) => {
      await page.getByRole('link', { name: 'Home' }).click()
      await current(page).getByText(step).waitFor()
    }
    await current(page).getByText('Look at the example').waitFor()
    expect(await barriers(page)).toEqual([])
    await current(page).getByRole('link', { name: 'Open the refund desk' }).click()
    await page.getByText(/stops for/i).waitFor()

    await home('Run it offline')
    await current(page).getByRole('link', { name: 'Fill in and run' }).click()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.waitForURL('**/tasks/task_*')
    await page.getByRole('button', { name: 'Cancel' }).waitFor()
    await page.getByRole('article', { name: 'Approval' }).waitFor()

    await home('Approve its action')
    await current(page).getByRole('link', { name: 'Answer it' }).click()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Finished: succeeded').waitFor()

    await page.getByRole('link', { name: 'Home' }).click()
    const last = page.getByRole('region', { name: 'Connect a real model' })
    await last.getByText(/SVC_MODEL=/).waitFor()
    expect(await barriers(page)).toEqual([])
    await last.getByRole('button', { name: 'Hide the guide' }).click()
    await page.reload()
    await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor()
    expect(await last.count()).toBe(0)
  })
})

describe('the first visit with a model', () => {
  const console = sharedConsole({
    SVC_MODEL: 'openai/any',
    OPENAI_API_KEY: 'sk-none',
    OPENAI_BASE_URL: 'http://[::1]:9',
  })

  test('knows that a real model is connected, and offers another run when the first one was cancelled', async () => {
    const page = await console().open('/', { signedIn: false })
    await signUp(page)
    await page.getByText('Your model is connected and does the work.').waitFor()
    const wedge = 'refund-desk'
    const { body } = await console().call('POST', '/v1/tasks', { wedge, task_type: 'handle_request', input: {} })
    await console().call('POST', `/v1/tasks/${body.id}/cancel`)
    await current(page).getByText('Approve its action').waitFor()
    await current(page).getByRole('link', { name: 'Run it once more' }).waitFor()
  })
})
