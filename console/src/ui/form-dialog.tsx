import type { ReactNode } from 'react'
import type { PlainMutation } from '../api/mutation.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { uiText } from './text.ts'

/** A form in a dialog, with a submit button and a cancel button. */
export function FormDialog({
  title,
  submitLabel,
  canSubmit = true,
  mutation,
  wide = false,
  role,
  extraActions,
  onClose,
  children,
}: {
  title: string
  role?: 'alertdialog'
  submitLabel: string
  canSubmit?: boolean
  mutation: PlainMutation
  wide?: boolean
  /** Further buttons, such as delete. */
  extraActions?: ReactNode
  onClose: () => void
  children: ReactNode
}) {
  return (
    <Dialog label={title} {...(role && { role })} onClose={onClose} className={wide ? 'max-w-4xl' : 'max-w-md'}>
      <form className="flex flex-col gap-4 p-5" onSubmit={(event) => (event.preventDefault(), mutation.mutate())}>
        <h2 className="text-base font-semibold">{title}</h2>
        {children}
        <div className="flex gap-2">
          <Button type="submit" variant="primary" disabled={mutation.isPending || !canSubmit}>
            {submitLabel}
          </Button>
          <Button variant="ghost" onClick={onClose}>
            {uiText.cancel}
          </Button>
          <span className="ml-auto flex">{extraActions}</span>
        </div>
      </form>
    </Dialog>
  )
}
