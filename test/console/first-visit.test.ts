import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { anthropicStream, startFakeProvider } from '../models/fake-provider.ts'
import { FOUNDER_KEY } from '../app.ts'
import { barriers, sharedConsole } from './browser.ts'

async function signUp(page: Page) {
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByLabel('Organisation').fill('Larkspur')
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('Password').fill('correct horse battery')
  await page.getByRole('button', { name: 'Create the account' }).click()
}

const current = (page: Page) => page.locator('[aria-current="step"]')

/** What a real model says over the wire, and hands in. */
const SAID = 'The photo shows a broken lid, so this one is ours to pay.'
const REPLY = 'We are sorry about the lid. Your money is on its way.'
const output = { order_id: 'A-1001', decision: 'refund', amount_usd: 84.5, category: 'damaged', reply: REPLY }

describe('the first visit on a fresh start', () => {
  const console = sharedConsole()

  test('leads step by step: look, run offline, approve, watch it finish, connect a real model that answers', async () => {
    // The service is away for a moment while it starts again with a model.
    const page = await console().open('/', { signedIn: false, expected: /net::ERR_/ })
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

    const provider = await startFakeProvider({
      chunks: [anthropicStream({ text: SAID, call: { name: 'finish', input: { output } } })],
    })
    onTestFinished(() => provider.close())
    const { 0: command = '' } = (await last.locator('code').textContent())?.split(' ./svc') ?? []
    const named = Object.fromEntries(command.split(' ').map((pair) => pair.split('=')))
    expect(Object.keys(named)).toEqual(['SVC_MODEL', 'ANTHROPIC_API_KEY'])
    await console().restart({ ...named, ANTHROPIC_API_KEY: 'sk-real', ANTHROPIC_BASE_URL: provider.url })
    await page.reload()
    await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor()
    expect(await last.count()).toBe(0)

    await page.goto(`${console().url}/run?wedge=refund-desk&task_type=handle_request`)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.waitForURL('**/tasks/task_*')
    await page.getByText('Finished: succeeded').waitFor()
    await page.getByText(`with ${named['SVC_MODEL']}`).waitFor()
    await page.getByText(SAID).waitFor()
    await page.getByRole('button', { name: 'Output', exact: true }).click()
    await page.getByText(REPLY).first().waitFor()
    expect(provider.seen[0]).toMatchObject({ path: '/v1/messages', headers: { 'x-api-key': 'sk-real' } })
  })
})

describe('the first visit from elsewhere', () => {
  const console = sharedConsole({ SVC_PUBLIC_URL: 'https://work.example' })

  test('asks for the founder key, and for nothing that was filled in already', async () => {
    const page = await console().open('/', { signedIn: false })
    await signUp(page)
    await page.getByText(/first sign-up needs the founder key/).waitFor()
    expect(await barriers(page)).toEqual([])
    await page.getByLabel('Founder key').fill(FOUNDER_KEY)
    await page.getByRole('button', { name: 'Create the account' }).click()
    await current(page).getByText('Look at the example').waitFor()
    expect(await page.evaluate('sessionStorage.getItem("svc.token")')).toMatch(/^svc_fst_/)
  })
})

describe('the guide', () => {
  const console = sharedConsole()

  test('leaves who hides the guide alone', async () => {
    const page = await console().open('/')
    await page.getByRole('button', { name: 'Hide the guide' }).click()
    await page.reload()
    await page.getByRole('heading', { name: /waits? for you/ }).waitFor()
    expect(await page.getByRole('button', { name: 'Hide the guide' }).count()).toBe(0)
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
