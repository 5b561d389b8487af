import { describe, expect, test } from 'vitest'
import { accessibilityViolations, consoleFixture, HAS_HORIZONTAL_SCROLL } from './console-browser.ts'

describe('API reference page', () => {
  const console = consoleFixture()

  test.each(['light', 'dark'] as const)(
    'API reference: the %s theme is accessible and fits a phone with all sections open',
    async (scheme) => {
      const page = await console().open('/docs', {
        signedIn: false,
        colorScheme: scheme,
        viewport: { width: 360, height: 800 },
      })
      expect(await accessibilityViolations(page)).toEqual([])
      expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
      await page.evaluate(`document.querySelectorAll('details').forEach((one) => (one.open = true))`)
      expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
      expect(await page.getByRole('heading', { name: 'MCP', exact: true }).count()).toBe(1)
      expect(await page.getByText('`').count()).toBe(0)
    },
  )
})
