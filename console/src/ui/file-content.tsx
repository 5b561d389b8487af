import { useEffect, useMemo, useState } from 'react'
import type { Json, Schemas } from '../api/types.ts'
import { parseCsv } from './csv.ts'
import { JsonView } from './json.tsx'
import { Markdown } from './markdown.tsx'
import { previewKind } from './preview-kind.ts'

const MAX_CSV_ROWS = 200

interface ContentProps {
  file: Pick<Schemas.File, 'name' | 'content_type' | 'size'>
  blob: Blob
  /** The text below a table that is not shown as a whole. */
  firstRows: (count: number) => string
}

/** Shows a file of the console or the portal: an image, a PDF, or text in its form. */
export function FileContent({ file, blob, firstRows }: ContentProps) {
  const kind = previewKind(file)
  if (kind === 'image') return <ImageContent name={file.name} blob={blob} />
  if (kind === 'pdf') return <PdfContent name={file.name} blob={blob} />
  return <TextContent file={file} blob={blob} firstRows={firstRows} />
}

/** An address of the bytes in this browser, with the type that the service found and no other. */
function useBlobUrl(blob: Blob, type: string): string | null {
  const [url, setUrl] = useState<string | null>(null)
  useEffect(() => {
    const made = URL.createObjectURL(blob.slice(0, blob.size, type))
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [blob, type])
  return url
}

function ImageContent({ name, blob }: { name: string; blob: Blob }) {
  const url = useBlobUrl(blob, blob.type)
  return url && <img src={url} alt={name} className="mx-auto max-h-[70dvh] max-w-full object-contain" />
}

function PdfContent({ name, blob }: { name: string; blob: Blob }) {
  const url = useBlobUrl(blob, 'application/pdf')
  return url && <iframe src={url} title={name} className="h-[70dvh] w-full rounded-md bg-sunken" />
}

function TextContent({ file, blob, firstRows }: ContentProps) {
  const [text, setText] = useState<string | null>(null)
  useEffect(() => {
    let isShown = true
    void blob.text().then((read) => isShown && setText(read))
    return () => {
      isShown = false
    }
  }, [blob])
  if (text === null) return null
  const kind = previewKind(file)
  if (kind === 'csv') return <CsvTable name={file.name} text={text} firstRows={firstRows} />
  if (kind === 'markdown') return <Markdown text={text} />
  const json = kind === 'json' ? parseJson(text) : undefined
  if (json !== undefined) return <JsonView value={json} label={file.name} max="" />
  return <pre className="font-mono text-xs leading-5 break-words whitespace-pre-wrap">{text}</pre>
}

function parseJson(text: string): Json {
  try {
    const value: Json = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

function CsvTable({ name, text, firstRows }: { name: string; text: string } & Pick<ContentProps, 'firstRows'>) {
  const rows = useMemo(() => parseCsv(text, MAX_CSV_ROWS + 1), [text])
  const [head = [], ...body] = rows
  return (
    <>
      <table className="w-full border-collapse text-left text-xs [&_td]:border [&_td]:border-line [&_td]:px-2 [&_td]:py-1 [&_th]:border [&_th]:border-line [&_th]:bg-sunken [&_th]:px-2 [&_th]:py-1">
        <caption className="sr-only">{name}</caption>
        <thead>
          <tr>
            {head.map((cell, i) => (
              <th key={i} scope="col">
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.slice(0, MAX_CSV_ROWS).map((cells, i) => (
            <tr key={i}>
              {cells.map((cell, j) => (
                <td key={j}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MAX_CSV_ROWS && <p className="pt-2 text-xs text-muted">{firstRows(MAX_CSV_ROWS)}</p>}
    </>
  )
}
