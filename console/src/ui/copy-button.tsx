import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from './button.tsx'
import { uiText } from './text.ts'

const SHOWN_MS = 1_500

export function CopyButton({ text, label = uiText.copy }: { text: () => string; label?: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await copyText(text())
    setCopied(true)
    setTimeout(() => setCopied(false), SHOWN_MS)
  }
  return (
    <Button small variant="ghost" onClick={() => void copy()} icon={copied ? <Check size={14} /> : <Copy size={14} />}>
      {copied ? uiText.copied : label}
    </Button>
  )
}

/** Browsers offer no clipboard API to pages that are served over plain HTTP, except on localhost. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}
