import { useEffect, useEffectEvent } from 'react'

export type Shortcuts = Record<string, (event: KeyboardEvent) => void>

/**
 * Keys that work anywhere on the page, except where text goes in, with a modifier held, or behind a dialog. Names are
 * those of KeyboardEvent.key.
 */
export function useShortcuts(keys: Shortcuts): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    if (isTextInput(event.target) || document.querySelector('dialog[open]')) return
    const act = keys[event.key]
    if (!act) return
    event.preventDefault()
    act(event)
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
