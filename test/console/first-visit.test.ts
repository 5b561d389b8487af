import type { Page, Route } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { anthropicStream, startFakeProvider } from '../execution/models/fake-provider.ts'
import { FOUNDER_KEY } from '../app.ts'
import { accessibilityViolations, consoleFixture } from './console-browser.ts'
import { approveWithoutHold } from './held-approvals.ts'

async function signUp(page: Page, founderKey = FOUNDER_KEY) {
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByLabel('Organisation').fill('Larkspur')
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('Password').fill('correct horse battery')
  await page.getByLabel('Founder key').fill(founderKey)
  await page.getByRole('button', { name: 'Create account' }).click()
}

const current = (page: Page) => page.locator('[aria-current="step"]')

/** The text and the output of the fake model. */
const MODEL_TEXT = 'The photo shows a broken lid, so this one is ours to pay.'
const REPLY = 'We are sorry about the lid. Your money is on its way.'
const output = { order_id: 'A-1001', decision: 'refund', amount_usd: 84.5, category: 'damaged', reply: REPLY }

describe('first visit, new deployment', () => {
  const console = consoleFixture()

  test('first visit: the guide leads from the example to a finished run and to a real model', async () => {
    // The service is unreachable while it restarts with a model.
    const page = await console().open('/', { signedIn: false, expected: /net::ERR_/ })
    await signUp(page)
    const home = async (step: string) => {
      await page.getByRole('link', { name: 'Home' }).click()
      await current(page).getByText(step).waitFor()
    }
    await current(page).getByText('Try the refund desk').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await current(page).getByRole('link', { name: 'Start' }).click()
    await page.getByText('Requires approval').waitFor()

    await home('Run it offline')
    await current(page).getByRole('link', { name: 'Open form' }).click()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.waitForURL('**/tasks/task_*')
    await page.getByRole('button', { name: 'Cancel task' }).waitFor()
    await page.getByRole('article', { name: 'Approval' }).waitFor()

    await home('Approve its action')
    await current(page).getByRole('link', { name: 'Review' }).click()
    await page.getByRole('button', { name: 'Approve' }).click()
    const task = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    await approveWithoutHold(console(), task, () =>
      page.getByRole('button', { name: /press again to confirm/ }).click(),
    )
    await page.getByText('Finished: succeeded').waitFor()

    await page.getByRole('link', { name: 'Home' }).click()
    const last = page.getByRole('region', { name: 'Connect a model' })
    await last.getByText(/SVC_MODEL=/).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])

    const provider = await startFakeProvider({
      chunks: [anthropicStream({ text: MODEL_TEXT, call: { name: 'finish', input: { output } } })],
    })
    onTestFinished(() => provider.close())
    const { 0: command = '' } = (await last.locator('code').textContent())?.split(' ./svc') ?? []
    const settings = Object.fromEntries(command.split(' ').map((pair) => pair.split('=')))
    expect(Object.keys(settings)).toEqual(['SVC_MODEL', 'ANTHROPIC_API_KEY'])
    await console().restart({ ...settings, ANTHROPIC_API_KEY: 'sk-real', ANTHROPIC_BASE_URL: provider.url })
    await page.reload()
    await page.getByRole('heading', { name: "You're all caught up" }).waitFor()
    expect(await last.count()).toBe(0)

    await page.goto(`${console().url}/run?wedge=refund-desk&task_type=handle_request`)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.waitForURL('**/tasks/task_*')
    await page.getByText('Finished: succeeded').waitFor()
    await page.getByText(`model: ${settings['SVC_MODEL']}`).waitFor()
    await page.getByText(MODEL_TEXT).waitFor()
    await page.getByRole('button', { name: 'Output', exact: true }).click()
    await page.getByText(REPLY).first().waitFor()
    expect(provider.seen[0]).toMatchObject({ path: '/v1/messages', headers: { 'x-api-key': 'sk-real' } })
  })
})

describe('sign-in page of a new deployment', () => {
  const console = consoleFixture()

  test('sign-in: the page opens on the API key until a member has signed up with the founder key', async () => {
    const page = await console().open('/', { signedIn: false, expected: /403/ })
    await page.getByLabel('API key').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Sign up' }).click()
    expect(await page.getByLabel('Founder key').getAttribute('required')).not.toBeNull()
    expect(await accessibilityViolations(page)).toEqual([])
    await signUp(page, 'svc_key_wrong')
    await page.getByText('the first sign-up needs the founder key as bearer token').waitFor()
    await page.getByLabel('Founder key').fill(FOUNDER_KEY)
    await page.getByRole('button', { name: 'Create account' }).click()
    await current(page).getByText('Try the refund desk').waitFor()
    expect(await page.evaluate('sessionStorage.getItem("svc.token")')).toMatch(/^svc_fst_/)
    const later = await console().open('/', { signedIn: false })
    await later.getByLabel('Email').waitFor()
  })
})

describe('first visit, hidden guide', () => {
  const console = consoleFixture()

  test('guide: once hidden it stays hidden after a reload', async () => {
    const page = await console().open('/')
    await page.getByRole('button', { name: 'Hide guide' }).click()
    const held = new Promise<Route>((hold) => void page.route('**/v1/needs-you', hold, { times: 1 }))
    await page.reload()
    const loading = await held
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    await loading.continue()
    await page.getByRole('heading', { name: /all caught up|approvals? waits?/ }).waitFor()
    expect(await page.getByRole('button', { name: 'Hide guide' }).count()).toBe(0)
  })
})

describe('first visit with a model', () => {
  const console = consoleFixture({
    SVC_MODEL: 'openai/any',
    OPENAI_API_KEY: 'sk-none',
    OPENAI_BASE_URL: 'http://[::1]:9',
  })

  test('guide: it knows that a model is connected and offers another run after a cancelled one', async () => {
    const page = await console().open('/', { signedIn: false })
    await signUp(page)
    await page.getByText('Your model is connected and runs the tasks.').waitFor()
    const wedge = 'refund-desk'
    const { body } = await console().call('POST', '/v1/tasks', { wedge, task_type: 'handle_request', input: {} })
    await console().call('POST', `/v1/tasks/${body.id}/cancel`)
    await current(page).getByText('Approve its action').waitFor()
    await current(page).getByRole('link', { name: 'Run again' }).waitFor()
  })
})
