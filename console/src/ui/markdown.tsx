import type { ReactNode } from 'react'

/**
 * Renders the common subset of Markdown: headings, lists, fenced code, bold and inline code. It creates elements and
 * never HTML, so that markup in a text stays text.
 */
export function Markdown({ text }: { text: string }) {
  return <div className="flex flex-col gap-2 break-words">{blocksOf(text).map(block)}</div>
}

function blocksOf(text: string): string[] {
  const parts = text.replaceAll('\r', '').split(/(^```[\s\S]*?^```)/m)
  return parts
    .flatMap((part) => (part.startsWith('```') ? [part] : part.split(/\n{2,}|\n(?=#)|(?<=^#.*)\n/m)))
    .filter((part) => part.trim() !== '')
}

function block(text: string, key: number): ReactNode {
  const lines = text.trim().split('\n')
  const [first = ''] = lines
  if (text.startsWith('```')) {
    return (
      <pre key={key} className="rounded-md bg-sunken p-3 font-mono text-xs break-words whitespace-pre-wrap">
        {lines.slice(1, -1).join('\n')}
      </pre>
    )
  }
  if (/^#{1,6} /.test(first)) {
    return (
      <p key={key} className="text-base font-semibold">
        {inline(first.replace(/^#+ /, ''))}
      </p>
    )
  }
  if (lines.every((line) => /^\s*([-*]|\d+\.) /.test(line))) {
    return (
      <ul key={key} className="list-disc pl-5">
        {lines.map((line, i) => (
          <li key={i}>{inline(line.replace(/^\s*([-*]|\d+\.) /, ''))}</li>
        ))}
      </ul>
    )
  }
  return (
    <p key={key} className="whitespace-pre-line">
      {inline(text.trim())}
    </p>
  )
}

const INLINE = /(\*\*[^*]+\*\*|`[^`]+`)/

function inline(text: string): ReactNode[] {
  return text.split(INLINE).map((part, i) => {
    if (part.startsWith('**')) return <strong key={i}>{part.slice(2, -2)}</strong>
    if (part.startsWith('`') && part.length > 1) {
      return (
        <code key={i} className="font-mono text-xs">
          {part.slice(1, -1)}
        </code>
      )
    }
    return part
  })
}
