import type { Dialog, Locator, Page, Request, Response } from 'playwright-core'
import { expect } from 'vitest'

/** Not what only chooses a view: those that matter have an address of their own. */
const CONTROLS = ':is(button:not([aria-pressed]), select, input[type="checkbox"]):enabled:visible'
const FIELDS = ':is(textarea, input:not([type="checkbox"])):enabled:visible'

/** Uses one after the other all that can be used on a page, and what opens by it; tells what the role was refused. */
export async function tryEverything(page: Page, address: string): Promise<string[]> {
  const writes: Request[] = []
  const answers: Promise<string | null>[] = []
  const onRequest = (request: Request) => request.method() !== 'GET' && writes.push(request)
  const onResponse = (response: Response) => answers.push(refusal(response))
  const onDialog = (dialog: Dialog) => void dialog.accept()
  page.on('request', onRequest).on('response', onResponse).on('dialog', onDialog)
  const controls = page.locator(`main ${CONTROLS}`)
  await open(page, address)
  for (let at = 0; at < (await controls.count()); at++) {
    await use(controls.nth(at))
    await answerDialog(page)
    await settled(page, writes)
    if (page.url() !== address || (await page.locator('dialog[open]').count()) > 0) await open(page, address)
  }
  page.off('request', onRequest).off('response', onResponse).off('dialog', onDialog)
  return (await Promise.all(answers)).filter((refused) => refused !== null)
}

/** Only for the role: a wrong password is a 403 as well. */
async function refusal(response: Response): Promise<string | null> {
  if (response.status() !== 403 || !(await response.text()).includes('cannot do this')) return null
  return `${response.frame().url()}: ${response.request().method()} ${response.url()}`
}

/** What the page waited for is there. */
export async function drawn(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.locator('.animate-appear').first().waitFor({ state: 'detached' })
}

async function open(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await drawn(page)
  for (const area of await page.locator('main textarea:enabled:visible').all()) await area.fill('{}')
}

async function use(control: Locator): Promise<void> {
  const others = control.locator('option:not(:checked)')
  if ((await others.count()) > 0) await control.selectOption(await others.first().innerText())
  else await control.click()
}

/** Fills in what it asks for and sends it. */
async function answerDialog(page: Page): Promise<void> {
  const dialog = page.locator('dialog[open]').first()
  if ((await dialog.count()) === 0) return
  for (const field of await dialog.locator(FIELDS).all()) await field.fill(await wordsFor(field))
  const send = dialog.locator('button[type="submit"]:enabled')
  if ((await send.count()) > 0) await send.click()
}

const WORDS: Record<string, string> = { email: 'new@example.com', url: 'https://example.com', number: '1' }

async function wordsFor(field: Locator): Promise<string> {
  return WORDS[(await field.getAttribute('type')) ?? ''] ?? '{"some": "words"}'
}

/** A press has asked by the next frame for all that it asks for. */
async function settled(page: Page, writes: Request[]): Promise<void> {
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
  await expect
    .poll(() => writes.every((write) => write.existingResponse() !== null || write.failure()), { timeout: 10_000 })
    .toBe(true)
}
