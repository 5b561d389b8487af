import { describe, expect, test } from 'vitest'
import { accessibilityViolations, consoleFixture } from './console-browser.ts'

/** How often a page asks for changes without the stream, and a page with an error tries again. */
const POLL_MS = 5_000

describe('console without the change stream', () => {
  const console = consoleFixture()

  test.each([
    ['refused', 'abort'],
    ['held back by a proxy', 'hold'],
  ] as const)('live updates: new approvals still appear when the stream is %s', async (_, fate) => {
    const page = await console().newPage({ expected: /net::ERR_FAILED/, movesClock: true })
    let requests = 0
    await page.route('**/v1/stream', (route) => {
      requests++
      return fate === 'abort' ? route.abort() : undefined
    })
    await page.goto(`${console().url}/approvals`)
    await page.getByText('No pending approvals').waitFor()
    const input = { order_id: `S-${fate}`, amount_usd: 84.5, reason: 'arrived damaged' }
    const { body: task } = await console().call('POST', '/v1/tasks', {
      wedge: 'refund-desk',
      task_type: 'handle_request',
      input,
    })
    await page.clock.fastForward(POLL_MS)
    await page.getByRole('heading', { name: new RegExp(`S-${fate}`) }).waitFor()
    expect(requests).toBeGreaterThan(0)
    await console().call('POST', `/v1/tasks/${task.id}/cancel`)
    await page.clock.fastForward(POLL_MS)
    await page.getByRole('article', { name: 'Approval' }).locator('[data-status="rejected"]').waitFor()
  })

  test('live updates: the error page reloads when the service is reachable again', async () => {
    const page = await console().newPage({ expected: /net::ERR_FAILED|Failed to fetch/, movesClock: true })
    await page.route('**/v1/**', (route) => route.abort())
    await page.goto(`${console().url}/tasks`)
    await page.getByRole('heading', { name: 'The service cannot be reached' }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.unroute('**/v1/**')
    await page.clock.fastForward(POLL_MS)
    await page.getByRole('heading', { name: 'Tasks' }).waitFor()
  })

  test('live updates: the indicator says Live when the stream is connected', async () => {
    const page = await console().open('/')
    await page.getByRole('status').getByText('Live').waitFor()
  })
})
