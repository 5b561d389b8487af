import { fileName, toObject } from '../api/json.ts'
import type { Json } from '../api/types.ts'
import { humanize } from '../ui/humanize.ts'
import { usePortalText, useValueFormat } from './language.tsx'

/**
 * What will be sent, as names and values, because a client cannot be expected to read JSON. `texts` replace the values of
 * some fields, by their dotted path.
 */
export function PayloadFields({ value, texts = {} }: { value: Json; texts?: Record<string, string> }) {
  return <FieldValue value={value} path="" texts={texts} />
}

interface FieldProps {
  value: Json
  /** The dotted path of the value; empty for the whole payload. */
  path: string
  texts: Record<string, string>
}

function FieldValue(props: FieldProps) {
  const { value, path, texts } = props
  const { yes, no } = usePortalText()
  const formatValue = useValueFormat()
  if (Object.hasOwn(texts, path)) return texts[path]
  if (isEmpty(value)) return <span className="text-muted">—</span>
  if (Array.isArray(value)) return <ListItems {...props} items={value} />
  if (fileName(value) !== null) return fileName(value)
  if (typeof value === 'object') return <NamedValues {...props} />
  if (typeof value === 'boolean') return value ? yes : no
  return typeof value === 'string' || typeof value === 'number' ? formatValue(value) : null
}

const isEmpty = (value: Json): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)

function NamedValues({ value, path, texts }: FieldProps) {
  return (
    <dl className="flex min-w-0 flex-col gap-1.5">
      {Object.entries(toObject(value)).map(([name, one]) => (
        <div key={name} className={isBelowName(one) ? 'flex flex-col gap-1' : 'flex flex-wrap gap-x-2'}>
          <dt className="min-w-0 text-muted wrap-anywhere">{humanize(name)}</dt>
          <dd
            className={`min-w-0 wrap-anywhere whitespace-pre-wrap ${isNested(one) ? 'border-l border-line pl-3' : ''}`}
          >
            <FieldValue value={one} path={path === '' ? name : `${path}.${name}`} texts={texts} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

const isNested = (value: Json) =>
  typeof value === 'object' && value !== null && !('$file' in value) && Object.keys(value).length > 0

/** A text of several lines begins below its name, like everything that is nested. */
const isBelowName = (value: Json) => isNested(value) || (typeof value === 'string' && value.includes('\n'))

function ListItems({ items, path, texts }: FieldProps & { items: Json[] }) {
  return (
    <ul className="flex min-w-0 list-disc flex-col gap-1.5 pl-4">
      {items.map((item, n) => (
        // The payload of an approval does not change.
        // oxlint-disable-next-line react/no-array-index-key
        <li key={n} className="wrap-anywhere">
          <FieldValue value={item} path={`${path}.${n}`} texts={texts} />
        </li>
      ))}
    </ul>
  )
}
