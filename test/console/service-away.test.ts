import type { Request } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { accessibilityViolations, consoleFixture, HAS_HORIZONTAL_SCROLL } from './console-browser.ts'

/** What browsers log while the service is stopped. */
const UNREACHABLE = /net::ERR_|Failed to fetch|status of 50/

describe('console while the service is away', () => {
  const console = consoleFixture()

  test.each([
    ['a desktop', { width: 1440, height: 900 }],
    ['a phone', { width: 390, height: 844 }],
  ])(
    'service away: a banner tells the age of the data and goes when the service is back, on %s',
    async (_, viewport) => {
      const page = await console().open('/', { expected: UNREACHABLE, viewport })
      const isPhone = viewport.width < 500
      await page.getByRole('heading', { name: 'Needs you' }).waitFor()
      const banner = page.getByRole('alert').getByText(/^The service cannot be reached\. Data from \d\d:\d\d/)
      await console().restart({}, async () => {
        await banner.waitFor()
        expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
        expect(await accessibilityViolations(page)).toEqual([])
        if (isPhone) await page.getByRole('button', { name: 'Open navigation' }).click()
        // The script of this page is not loaded yet.
        await page.getByRole('link', { name: 'Analytics' }).last().click()
        await banner.waitFor()
      })
      await page.getByRole('heading', { name: 'Analytics' }).waitFor()
      await banner.waitFor({ state: 'detached' })
      await page.getByRole('img', { name: /^Tasks per day/ }).waitFor()
    },
  )

  test('service away: a page without data shows the error, and loads when the service is back', async () => {
    const page = await console().open('/connections', { expected: UNREACHABLE })
    await page.getByRole('heading', { name: 'post' }).waitFor()
    await page.getByRole('link', { name: 'Home' }).click()
    await page.getByRole('heading', { name: 'Needs you' }).waitFor()
    // The page's script and those that it imports are requested together.
    const loading = new Set<Request>()
    page.on('request', (request) => request.url().includes('/assets/') && loading.add(request))
    page.on('requestfinished', (request) => loading.delete(request))
    const script = page.waitForResponse(/schedules-page/)
    await page.getByRole('link', { name: 'Schedules' }).hover()
    await (await script).finished()
    await expect.poll(() => loading.size).toBe(0)
    await console().restart({}, async () => {
      await page
        .getByRole('alert')
        .getByText(/^The service cannot be reached\. Data/)
        .waitFor()
      await page.getByRole('link', { name: 'Schedules' }).click()
      await page.getByRole('heading', { name: 'Schedules' }).waitFor()
      await page.getByText('The service cannot be reached', { exact: true }).waitFor()
    })
    await page.getByText('No schedules yet').waitFor()
  })

  test('page not found: the navigation stays', async () => {
    const page = await console().open('/no-such-page')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Tasks' }).click()
    await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor()
  })

  test('home: each list is requested once when the page opens', async () => {
    const page = await console().newPage()
    const requests: string[] = []
    page.on(
      'request',
      (request) =>
        request.url().includes('/v1/') &&
        requests.push(new URL(request.url()).pathname + new URL(request.url()).search),
    )
    await page.goto(console().url)
    await page.getByRole('status').getByText('Live', { exact: true }).waitFor()
    await page.getByRole('heading', { name: 'Needs you' }).waitFor()
    // A second round would start 120 ms after the stream is open.
    await page.waitForTimeout(1_000)
    expect(requests.filter((one, index) => requests.indexOf(one) !== index)).toEqual([])
    // The stream is open: a change still arrives.
    const { body } = await console().call('POST', '/v1/tasks', {
      wedge: 'letters',
      task_type: 'write',
      input: { to: 'Ada' },
    })
    await page.getByRole('heading', { name: '1 approval waits' }).waitFor()
    await console().call('POST', `/v1/tasks/${body.id}/cancel`)
  })
})
