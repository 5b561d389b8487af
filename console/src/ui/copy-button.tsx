import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from './button.tsx'
import { uiText } from './text.ts'
import { showToast } from './toast.tsx'

const SHOWN_MS = 1_500

export function CopyButton({
  text,
  label = uiText.copy,
  copiedLabel = uiText.copied,
  onCopied,
}: {
  text: () => string
  label?: string
  copiedLabel?: string
  onCopied?: () => void
}) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await copyText(text())
    } catch {
      return showToast(uiText.copyFailed, true)
    }
    setCopied(true)
    onCopied?.()
    setTimeout(() => setCopied(false), SHOWN_MS)
  }
  return (
    <Button small variant="ghost" onClick={() => void copy()} icon={copied ? <Check size={14} /> : <Copy size={14} />}>
      {copied ? copiedLabel : label}
    </Button>
  )
}

/** Browsers offer no clipboard API to pages that are served over plain HTTP, except on localhost. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  // While a dialog is open, nothing outside of it can be selected.
  const parent = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body
  parent.append(area)
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  if (!copied) throw new Error(uiText.copyFailed)
}
