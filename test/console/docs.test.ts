import { describe, expect, test } from 'vitest'
import { barriers, sharedConsole, TOO_WIDE } from './browser.ts'

describe('the reference for people', () => {
  const console = sharedConsole()

  test.each(['light', 'dark'] as const)('is readable in %s, and fits a phone with everything open', async (scheme) => {
    const page = await console().open('/docs', {
      signedIn: false,
      colorScheme: scheme,
      viewport: { width: 360, height: 800 },
    })
    expect(await barriers(page)).toEqual([])
    expect(await page.evaluate(TOO_WIDE)).toBe(false)
    await page.evaluate(`document.querySelectorAll('details').forEach((one) => (one.open = true))`)
    expect(await page.evaluate(TOO_WIDE)).toBe(false)
    expect(await page.getByRole('heading', { name: 'MCP', exact: true }).count()).toBe(1)
    expect(await page.getByText('`').count()).toBe(0)
  })
})
