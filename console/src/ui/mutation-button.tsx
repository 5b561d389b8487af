import { type ComponentProps, useState } from 'react'
import type { PlainMutation } from '../api/mutation.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { uiText } from './text.ts'

/** Runs a mutation when pressed, one at a time; `confirmText` asks for confirmation first. */
export function MutationButton({
  mutation,
  confirmText,
  disabled = false,
  ...rest
}: ComponentProps<typeof Button> & { mutation: PlainMutation; confirmText?: string }) {
  const [asking, setAsking] = useState(false)
  const confirm = () => {
    setAsking(false)
    mutation.mutate()
  }
  return (
    <>
      <Button
        {...rest}
        disabled={disabled || mutation.isPending}
        onClick={() => (confirmText === undefined ? mutation.mutate() : setAsking(true))}
      />
      {asking && confirmText !== undefined && (
        <Dialog role="alertdialog" label={confirmText} onClose={() => setAsking(false)} className="max-w-md">
          <div className="flex flex-col gap-4 p-5">
            <h2 className="text-base font-semibold break-words">{confirmText}</h2>
            <div className="flex gap-2">
              <Button variant={rest.variant ?? 'primary'} onClick={confirm}>
                {rest.children}
              </Button>
              <Button variant="ghost" onClick={() => setAsking(false)}>
                {uiText.cancel}
              </Button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  )
}
