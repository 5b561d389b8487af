import { describe, expect, test } from 'vitest'
import { barriers, sharedConsole } from './browser.ts'

describe('the console without its stream', () => {
  const console = sharedConsole()

  test.each([
    ['refused on the way', 'abort'],
    ['held back on the way', 'hold'],
  ] as const)('still shows what is new when the stream is %s', async (_, fate) => {
    const page = await console().open('/docs', { expected: /net::ERR_FAILED/ })
    let asked = 0
    await page.route('**/v1/stream', (route) => {
      asked++
      return fate === 'abort' ? route.abort() : undefined
    })
    await page.goto(`${console().url}/approvals`)
    await page.getByText('Nothing waits for you').waitFor()
    const input = { order_id: `S-${fate}`, amount_usd: 84.5, reason: 'arrived damaged' }
    const { body: task } = await console().call('POST', '/v1/tasks', {
      wedge: 'refund-desk',
      task_type: 'handle_request',
      input,
    })
    await page.getByRole('heading', { name: new RegExp(`S-${fate}`) }).waitFor()
    expect(asked).toBeGreaterThan(0)
    await console().call('POST', `/v1/tasks/${task.id}/cancel`)
    await page.getByRole('article', { name: 'Approval' }).locator('[data-status="rejected"]').waitFor()
  })

  test('comes back by itself when the service could not be reached', async () => {
    const page = await console().open('/docs', { expected: /net::ERR_FAILED|Failed to fetch/ })
    await page.route('**/v1/**', (route) => route.abort())
    await page.goto(`${console().url}/tasks`)
    await page.getByRole('heading', { name: 'The service cannot be reached' }).waitFor()
    expect(await barriers(page)).toEqual([])
    await page.unroute('**/v1/**')
    await page.getByRole('heading', { name: 'Tasks' }).waitFor()
  })

  test('is live when the stream is there', async () => {
    const page = await console().open('/')
    await page.getByRole('status').getByText('Live').waitFor()
  })
})
