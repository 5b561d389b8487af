import { type ReactNode, useEffect, useRef } from 'react'

/**
 * The browser's own modal dialog traps focus, restores it, closes with Escape and makes the page inert. Dialog libraries
 * inject style elements, which the Content-Security-Policy refuses.
 */
export function Dialog({
  label,
  role,
  onClose,
  onDismiss = null,
  className = '',
  children,
}: {
  label: string
  role?: 'alertdialog'
  onClose: () => void
  /** Called instead of closing, on Escape and on a click beside the dialog. */
  onDismiss?: (() => void) | null
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
      role={role}
      aria-label={label}
      onCancel={(event) => {
        if (!onDismiss) return
        event.preventDefault()
        onDismiss()
      }}
      onClose={(event) => {
        if (!onDismiss) return onClose()
        // Browsers close a dialog at the second Escape without asking the page.
        event.currentTarget.showModal()
        onDismiss()
      }}
      onClick={(event) => {
        if (event.target !== event.currentTarget) return
        if (onDismiss) onDismiss()
        else event.currentTarget.close()
      }}
      className={`panel m-auto w-full p-0 shadow-2xl max-sm:max-w-[calc(100vw-1rem)] ${className}`}
    >
      {children}
    </dialog>
  )
}
