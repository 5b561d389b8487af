import type { ReactNode } from 'react'
import type { Write } from '../api/write.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

/** A few fields and one button that sends them. */
export function FormDialog({
  title,
  submit,
  ready = true,
  write,
  wide = false,
  extra,
  onClose,
  children,
}: {
  title: string
  submit: string
  ready?: boolean
  write: Write
  wide?: boolean
  /** What else can be done with it, apart from saving. */
  extra?: ReactNode
  onClose: () => void
  children: ReactNode
}) {
  return (
    <Dialog label={title} onClose={onClose} className={wide ? 'max-w-4xl' : 'max-w-md'}>
      <form className="flex flex-col gap-4 p-5" onSubmit={(event) => (event.preventDefault(), write.mutate())}>
        <h2 className="text-base font-semibold">{title}</h2>
        {children}
        <div className="flex gap-2">
          <Button type="submit" look="primary" disabled={write.isPending || !ready}>
            {submit}
          </Button>
          <Button look="ghost" onClick={onClose}>
            Not now
          </Button>
          <span className="ml-auto flex">{extra}</span>
        </div>
      </form>
    </Dialog>
  )
}
