import { describe, expect, test } from 'vitest'
import { FOUNDER_KEY } from '../app.ts'
import { consoleFixture } from './console-browser.ts'

describe('the link that the first start prints', () => {
  const console = consoleFixture()

  test('the link signs in, and the key leaves the URL', async () => {
    const page = await console().open(`/#key=${FOUNDER_KEY}`, { signedIn: false })
    await page.getByRole('link', { name: 'Approvals' }).first().waitFor()
    expect(page.url()).not.toContain(FOUNDER_KEY)
    expect(await page.evaluate('localStorage.length')).toBe(0)
  })

  test('a link with a wrong key leads to the sign-in page, and the key leaves the URL', async () => {
    const page = await console().open('/#key=svc_key_wrong', { signedIn: false, expected: /401/ })
    await page.waitForURL(/\/sign-in/)
    expect(page.url()).not.toContain('svc_key_wrong')
  })
})
