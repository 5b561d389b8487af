/** The surfaces of the two themes, as in app.css. */
const SURFACES = { light: '#ffffff', dark: '#151a21' }
/** Below this contrast a filled button cannot be told from the surface. */
const MIN_CONTRAST = { light: 1.3, dark: 2 }
const BLACK = '#0b1220'
const WHITE = '#ffffff'

/**
 * The custom properties of app.css for a brand colour. Text on the colour is black or white, whichever is easier to read.
 * A colour that would vanish on the surface of a theme is made darker or lighter there.
 */
export function brandColors(color: string): Record<string, string> {
  return { ...propertiesFor(color, 'light'), ...propertiesFor(color, 'dark') }
}

function propertiesFor(color: string, theme: 'light' | 'dark'): Record<string, string> {
  const { accent, strong, soft, on } = accentsFor(color, theme)
  return {
    [`--accent-${theme}`]: accent,
    [`--accent-strong-${theme}`]: strong,
    [`--accent-soft-${theme}`]: soft,
    [`--on-accent-${theme}`]: on,
  }
}

interface Accents {
  accent: string
  strong: string
  soft: string
  on: string
}

function accentsFor(color: string, theme: 'light' | 'dark'): Accents {
  const surface = SURFACES[theme]
  let accent = color
  for (let share = 0; contrast(accent, surface) < MIN_CONTRAST[theme] && share < 1; share += 0.05)
    accent = mix(color, theme === 'light' ? '#000000' : WHITE, share)
  const on = contrast(accent, WHITE) >= contrast(accent, BLACK) ? WHITE : BLACK
  // Away from the text on it, so that the text stays readable.
  const strong = mix(accent, on === WHITE ? '#000000' : WHITE, 0.15)
  return { accent, strong, soft: mix(surface, accent, 0.12), on }
}

/** The contrast ratio of WCAG, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((channel) => {
    const share = channel / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** `share` of the second colour, the rest of the first. */
function mix(first: string, second: string, share: number): string {
  const others = channelsOf(second)
  const mixed = channelsOf(first).map((channel, n) => Math.round(channel * (1 - share) + (others[n] ?? 0) * share))
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
}

const channelsOf = (color: string): number[] => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
