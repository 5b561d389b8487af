import { type ReactNode, useEffect, useRef } from 'react'

/**
 * The browser's own modal dialog traps focus, restores it, closes with Escape and makes the page inert. Dialog libraries
 * inject style elements, which the Content-Security-Policy refuses.
 */
export function Dialog({
  label,
  onClose,
  className = '',
  children,
}: {
  label: string
  onClose: () => void
  className?: string
  children: ReactNode
}) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => ref.current?.showModal(), [])
  return (
    // A click on the backdrop targets the dialog element itself; a click inside targets a child.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <dialog
      ref={ref}
      aria-label={label}
      onClose={onClose}
      onClick={(event) => event.target === event.currentTarget && event.currentTarget.close()}
      className={`panel m-auto w-full p-0 shadow-2xl max-sm:max-w-[calc(100vw-1rem)] ${className}`}
    >
      {children}
    </dialog>
  )
}
