import type { Locator, Page, Request, Response } from 'playwright-core'
import { expect } from 'vitest'

/** Without tabs, which only change the view. */
const CONTROLS = ':is(button:not([aria-pressed]), select, input[type="checkbox"]):enabled:visible'
const FIELDS = ':is(textarea, input:not([type="checkbox"])):enabled:visible'

/** Uses every control of a page and every dialog that opens; returns the requests that the role was refused. */
export async function pressAllControls(page: Page, address: string): Promise<string[]> {
  const writes: Request[] = []
  const refusals: Promise<string | null>[] = []
  const onRequest = (request: Request) => request.method() !== 'GET' && writes.push(request)
  const onResponse = (response: Response) => refusals.push(refusal(response))
  page.on('request', onRequest).on('response', onResponse)
  const controls = page.locator(`main ${CONTROLS}`)
  await openFilledPage(page, address)
  for (let index = 0; index < (await controls.count()); index++) {
    await use(controls.nth(index))
    await submitDialog(page)
    await waitForWrites(page, writes)
    await closeDialogs(page)
    if (page.url() !== address) await openFilledPage(page, address)
  }
  page.off('request', onRequest).off('response', onResponse)
  return (await Promise.all(refusals)).filter((refused) => refused !== null)
}

/** Only refusals of the role; a wrong password is a 403 too. */
async function refusal(response: Response): Promise<string | null> {
  if (response.status() !== 403 || !(await response.text()).includes('cannot do this')) return null
  return `${response.frame().url()}: ${response.request().method()} ${response.url()}`
}

/** Opens a page of the console by its router if possible, because a full load costs several times more CPU time. */
export async function openPage(page: Page, address: string): Promise<void> {
  const [from, to] = [new URL(page.url()), new URL(address)]
  // Pages of the same section can share elements, so that only a full load tells when the new content is shown.
  const isOtherSection = from.pathname.split('/')[1] !== to.pathname.split('/')[1]
  if (from.origin === to.origin && isOtherSection) await navigate(page, to)
  else await page.goto(address)
  await waitUntilLoaded(page)
}

/** The router follows the browser history; the old page is gone when the marked element is. */
async function navigate(page: Page, to: URL): Promise<void> {
  await page.evaluate(
    `document.querySelector('main > *').setAttribute('data-old-page', '')
    history.pushState({}, '', ${JSON.stringify(to.pathname + to.search)})`,
  )
  await page.locator('[data-old-page]').waitFor({ state: 'detached' })
}

/** Waits until the heading is shown and no placeholder is left. */
async function waitUntilLoaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.locator('.animate-appear').first().waitFor({ state: 'detached' })
}

async function openFilledPage(page: Page, address: string): Promise<void> {
  await openPage(page, address)
  for (const area of await page.locator('main textarea:enabled:visible').all()) await area.fill('{}')
}

async function use(control: Locator): Promise<void> {
  const others = control.locator('option:not(:checked)')
  if ((await others.count()) > 0) await control.selectOption(await others.first().innerText())
  else await control.click()
}

/** Confirms, or fills in and submits, the open dialog. */
async function submitDialog(page: Page): Promise<void> {
  const confirm = page.locator('dialog[open][role="alertdialog"] button').first()
  if ((await confirm.count()) > 0) return confirm.click()
  const dialog = page.locator('dialog[open]').first()
  if ((await dialog.count()) === 0) return
  for (const field of await dialog.locator(FIELDS).all()) await field.fill(await sampleValue(field))
  const send = dialog.locator('button[type="submit"]:enabled')
  if ((await send.count()) > 0) await send.click()
}

async function closeDialogs(page: Page): Promise<void> {
  const dialogs = page.locator('dialog[open]')
  for (let open = await dialogs.count(); open > 0; open = await dialogs.count()) {
    // A secret that is shown once closes only by its button.
    const done = page.locator('dialog[open]:has([data-once]) button').last()
    if ((await done.count()) > 0) await done.click()
    else await page.keyboard.press('Escape')
  }
}

const SAMPLE_VALUES: Record<string, string> = { email: 'new@example.com', url: 'https://example.com', number: '1' }

async function sampleValue(field: Locator): Promise<string> {
  return SAMPLE_VALUES[(await field.getAttribute('type')) ?? ''] ?? '{"some": "words"}'
}

/** Waits until the requests of the last click are answered; they are sent before the next frame. */
async function waitForWrites(page: Page, writes: Request[]): Promise<void> {
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
  await expect.poll(() => writes.every((write) => write.existingResponse() !== null || write.failure())).toBe(true)
}
