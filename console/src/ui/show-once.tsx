import { useState } from 'react'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'
import { uiText } from './text.ts'

/** Shows a secret that the server does not show again. Only Done closes it before it was copied. */
export function ShowOnce({
  title,
  lead,
  value,
  onClose,
}: {
  title: string
  lead: string
  value: string
  onClose: () => void
}) {
  const [copied, setCopied] = useState(false)
  const [warned, setWarned] = useState(false)
  return (
    <Dialog label={title} onClose={onClose} onDismiss={copied ? null : () => setWarned(true)} className="max-w-lg">
      <div className="flex flex-col gap-3 p-5">
        <h2 className="text-base font-semibold">{title}</h2>
        <p className="text-muted">{lead}</p>
        <code data-once className="rounded-md bg-sunken p-3 font-mono text-xs break-all select-all">
          {value}
        </code>
        {warned && !copied && (
          <p role="alert" className="text-wait">
            {uiText.copyFirst}
          </p>
        )}
        <div className="flex gap-2">
          <CopyButton text={() => value} onCopied={() => setCopied(true)} />
          <Button variant="primary" className="ml-auto" onClick={onClose}>
            {uiText.done}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
