import { fileName, toText } from '../api/json.ts'
import { useMemo } from 'react'
import type { Json } from '../api/types.ts'
import { humanize } from './humanize.ts'
import { uiText } from './text.ts'

const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** Each coloured token is an element, so longer texts are shown without colour. */
const MAX_COLOURED_CHARS = 20_000

export function JsonView({
  value,
  label = uiText.json,
  max = 'max-h-96',
}: {
  value: Json
  label?: string
  max?: string
}) {
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? 'null', [value])
  return (
    <pre
      tabIndex={0}
      role="region"
      aria-label={label}
      className={`overflow-auto rounded-md bg-sunken p-3 font-mono text-xs leading-5 break-words whitespace-pre-wrap ${max}`}
    >
      {text.length > MAX_COLOURED_CHARS ? text : colourTokens(text)}
    </pre>
  )
}

function colourTokens(text: string) {
  const parts = []
  let at = 0
  for (const match of text.matchAll(TOKEN)) {
    parts.push(text.slice(at, match.index))
    const [whole, string, colon] = match
    const colour = string ? (colon ? 'text-accent' : 'text-ok') : 'text-wait'
    parts.push(
      <span key={match.index} className={colour}>
        {string ?? whole}
      </span>,
      colon ?? '',
    )
    at = match.index + whole.length
  }
  return [...parts, text.slice(at)]
}

/** An object as a list of names and values; any other value as JSON. `texts` replace the values of some fields. */
export function FieldList({ value, texts = {} }: { value: Json; texts?: Record<string, string> }) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return <JsonView value={value} />
  return (
    <dl className="grid grid-cols-[minmax(6rem,auto)_1fr] gap-x-4 gap-y-1.5 max-sm:grid-cols-1 max-sm:gap-y-0.5">
      {Object.entries(value).map(([name, one]) => (
        <div key={name} className="contents">
          <dt className="text-muted max-sm:mt-1.5">{humanize(name)}</dt>
          <dd className="min-w-0 break-words whitespace-pre-wrap">
            <FieldValue label={humanize(name)} value={Object.hasOwn(texts, name) ? (texts[name] ?? null) : one} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function FieldValue({ label, value }: { label: string; value: Json }) {
  if (value === null || value === '') return <span className="text-muted">—</span>
  if (fileName(value) !== null) return <>{fileName(value)}</>
  if (typeof value === 'object') return <JsonView value={value} label={label} max="max-h-48" />
  return <>{toText(value)}</>
}
