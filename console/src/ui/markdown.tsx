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
    .flatMap((part) =>
      part.startsWith('```') ? [part] : part.split(/\n{2,}|\n(?=#)|\n(?<=^#.*\n)/m).flatMap(splitLists),
    )
    .filter((part) => part.trim() !== '')
}

const LIST_ITEM = /^\s*([-*]|\d+\.) /

/** A list needs no empty line before or after it. */
function splitLists(part: string): string[] {
  const blocks: { isList: boolean; lines: string[] }[] = []
  for (const line of part.split('\n')) {
    const isList = LIST_ITEM.test(line)
    const last = blocks.at(-1)
    if (last?.isList && /^\s+\S/.test(line) && !isList) last.lines.push(`${last.lines.pop()} ${line.trim()}`)
    else if (last?.isList === isList) last.lines.push(line)
    else blocks.push({ isList, lines: [line] })
  }
  return blocks.map(({ lines }) => lines.join('\n'))
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
  if (LIST_ITEM.test(first)) {
    return (
      <ul key={key} className="list-disc pl-5">
        {lines.map((line, i) => (
          <li key={i}>{inline(line.replace(LIST_ITEM, ''))}</li>
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
