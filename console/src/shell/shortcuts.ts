import { useEffect, useEffectEvent } from 'react'

export type Shortcuts = Record<string, (event: KeyboardEvent) => void>

/**
 * Keyboard shortcuts of a page, by KeyboardEvent.key. They are off in text fields and selects, with a modifier key, and while a
 * dialog is open.
 */
export function useShortcuts(keys: Shortcuts): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    if (isTextInput(event.target) || document.querySelector('dialog[open]')) return
    const onPress = keys[event.key]
    if (!onPress) return
    event.preventDefault()
    onPress(event)
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKey(event)
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [])
}

/** The types of inputs in which letters write nothing. */
const WITHOUT_TEXT = ['checkbox', 'radio', 'button', 'submit', 'reset', 'file', 'range', 'color']

function isTextInput(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !WITHOUT_TEXT.includes(target.type)
  return target instanceof HTMLElement && (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName))
}
