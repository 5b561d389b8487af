import { useState } from 'react'

export type Theme = 'system' | 'light' | 'dark'
const STORAGE_KEY = 'svc.theme'
const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }

/** The selected theme and a function that switches to the next. public/theme.js applies it before the first paint. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(stored)
  const next = () => {
    const to = NEXT[theme]
    setTheme(to)
    if (to === 'system') {
      localStorage.removeItem(STORAGE_KEY)
      delete document.documentElement.dataset['theme']
    } else {
      localStorage.setItem(STORAGE_KEY, to)
      document.documentElement.dataset['theme'] = to
    }
  }
  return [theme, next]
}

function stored(): Theme {
  const value = localStorage.getItem(STORAGE_KEY)
  return value === 'light' || value === 'dark' ? value : 'system'
}
