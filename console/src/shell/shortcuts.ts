import { useEffect, useEffectEvent } from 'react'

export type Shortcuts = Record<string, (event: KeyboardEvent) => void>

/**
 * Keyboard shortcuts of a page, by KeyboardEvent.key. They are off in text fields, with a modifier key, and while a
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

function isTextInput(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}
