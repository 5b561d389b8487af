import { type ReactNode, useEffect, useRef } from 'react'

/**
 * The browser's own modal dialog: it traps focus, gives it back, closes by Escape and makes the rest inert, without a
 * library and without the style elements that the Content-Security-Policy would refuse.
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
    // A click beside the dialog lands on the element itself, one inside lands on a child.
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
