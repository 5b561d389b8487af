import { useState } from 'react'

export type Theme = 'system' | 'light' | 'dark'
const STORED = 'svc.theme'
const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }

/** The chosen theme, and what moves on to the next. public/theme.js puts it in place before the first paint. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(stored)
  const next = () => {
    const to = NEXT[theme]
    setTheme(to)
    if (to === 'system') {
      localStorage.removeItem(STORED)
      delete document.documentElement.dataset['theme']
    } else {
      localStorage.setItem(STORED, to)
      document.documentElement.dataset['theme'] = to
    }
  }
  return [theme, next]
}

function stored(): Theme {
  const value = localStorage.getItem(STORED)
  return value === 'light' || value === 'dark' ? value : 'system'
}
