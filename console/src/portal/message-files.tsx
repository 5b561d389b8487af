import { Download, FileText } from 'lucide-react'
import { useEffect, useState } from 'react'
import { formatBytes } from '../ui/format.ts'
import { readDataUrl } from '../ui/read-data-url.ts'
import { saveFile } from '../ui/save-file.ts'
import { usePortalText } from './language.tsx'
import { fetchFile, type PortalFile } from './portal-api.ts'

/** Larger images are only offered for download, because the browser holds the whole preview in memory. */
const MAX_PREVIEW_BYTES = 3 * 1024 * 1024
const PREVIEW_TYPE = /^image\/(?:png|jpeg|gif|webp)$/

/** The files of a message: images with a preview, all others with their name. */
export function MessageFiles({ files }: { files: PortalFile[] }) {
  const text = usePortalText()
  if (files.length === 0) return null
  return (
    <ul className="flex flex-col gap-1.5">
      {files.map((file) => (
        <li key={file.id} className="panel max-w-72 overflow-hidden text-sm">
          {PREVIEW_TYPE.test(file.content_type) && file.size <= MAX_PREVIEW_BYTES && <ImagePreview file={file} />}
          <button
            type="button"
            className="flex min-h-11 w-full items-center gap-2 px-3 py-1.5 text-left hover:bg-hover"
            onClick={() => void saveFile(fetchFile(file.id), file.name)}
          >
            <FileText size={16} aria-hidden className="shrink-0 text-muted" />
            <span className="sr-only">{text.downloadFile}: </span>
            <span className="min-w-0 flex-1 truncate">{file.name}</span>
            <span className="whitespace-nowrap text-xs text-muted">{formatBytes(file.size)}</span>
            <Download size={14} aria-hidden className="shrink-0 text-muted" />
          </button>
        </li>
      ))}
    </ul>
  )
}

/** Fetched by the page, because the bytes need the Authorization header. */
function ImagePreview({ file }: { file: PortalFile }) {
  const [url, setUrl] = useState<string | null>(null)
  useEffect(() => {
    let isShown = true
    void fetchFile(file.id)
      .then((response) => response.blob())
      .then(readDataUrl)
      .then(
        (read) => isShown && setUrl(read),
        // The file can still be downloaded.
        () => {},
      )
    return () => {
      isShown = false
    }
  }, [file.id])
  return <div className="h-44 bg-sunken">{url && <img src={url} alt="" className="size-full object-contain" />}</div>
}
