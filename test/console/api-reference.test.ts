import { describe, expect, test } from 'vitest'
import { consoleFixture, HAS_HORIZONTAL_SCROLL, violationsInBothThemes } from './console-browser.ts'

describe('API reference page', () => {
  const console = consoleFixture()

  test('API reference: it fits a phone with all sections open and is accessible in both themes', async () => {
    const page = await console().open('/docs', { signedIn: false, viewport: { width: 360, height: 800 } })
    expect(await violationsInBothThemes(page)).toEqual([])
    expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
    await page.evaluate(`document.querySelectorAll('details').forEach((one) => (one.open = true))`)
    expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
    expect(await page.getByRole('heading', { name: 'MCP', exact: true }).count()).toBe(1)
    expect(await page.getByText('`').count()).toBe(0)
  })
})
