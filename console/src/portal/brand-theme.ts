import { brandColors } from '../ui/brand-colors.ts'
import { PORTAL_TEXTS } from '../../../client-text/languages.ts'
import type { PortalBrand } from './portal-api.ts'

/** Gives the page the brand's language, title, icon and colours. */
export function applyBrand(brand: PortalBrand): void {
  const root = document.documentElement
  root.lang = brand.language
  document.title = brand.name ?? PORTAL_TEXTS[brand.language].portal
  const icon = brand.favicon_url ?? brand.logo_url
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
  if (icon && link) {
    link.removeAttribute('type')
    link.href = icon
  }
  // Set by a script, because the Content-Security-Policy refuses inline styles.
  if (brand.color)
    for (const [name, value] of Object.entries(brandColors(brand.color))) root.style.setProperty(name, value)
}
