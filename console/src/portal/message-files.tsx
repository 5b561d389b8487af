import { Download, FileText } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { previewKind } from '../ui/preview-kind.ts'
import { readDataUrl } from '../ui/read-data-url.ts'
import { saveFile } from '../ui/save-file.ts'
import { portalErrorMessage } from './error-message.ts'
import { Alert } from './frame.tsx'
import { useBytesFormat, usePortalText } from './language.tsx'
import { fetchFile, type PortalFile } from './portal-api.ts'

const FileContent = lazy(async () => ({ default: (await import('../ui/file-content.tsx')).FileContent }))

/** Larger files are only offered for download, because the browser holds the whole preview in memory. */
const MAX_PREVIEW_BYTES = 10 * 1024 * 1024
const MAX_IMAGE_BYTES = 3 * 1024 * 1024

/** The files of a message. Images are shown; PDF, tables, Markdown, JSON and text open in a dialog. */
export function MessageFiles({ files }: { files: PortalFile[] }) {
  const [open, setOpen] = useState<PortalFile | null>(null)
  if (files.length === 0) return null
  return (
    <>
      <ul className="flex flex-col gap-1.5">
        {files.map((file) => (
          <li key={file.id} className="panel max-w-72 overflow-hidden text-sm">
            {previewKind(file) === 'image' && file.size <= MAX_IMAGE_BYTES && <ImagePreview file={file} />}
            <FileRow file={file} onOpen={() => setOpen(file)} />
          </li>
        ))}
      </ul>
      {open && <FilePreview file={open} onClose={() => setOpen(null)} />}
    </>
  )
}

/** A file that can be shown opens with a click on its name; every file can be downloaded. */
function FileRow({ file, onOpen }: { file: PortalFile; onOpen: () => void }) {
  const text = usePortalText()
  const formatBytes = useBytesFormat()
  const canOpen = previewKind(file) !== null && file.size <= MAX_PREVIEW_BYTES
  const name = (
    <>
      <FileText size={16} aria-hidden className="shrink-0 text-muted" />
      <span className="min-w-0 flex-1 truncate">{file.name}</span>
    </>
  )
  const place = 'flex min-h-11 min-w-0 flex-1 items-center gap-2 px-3 py-1.5 text-left'
  return (
    <div className="flex items-stretch">
      {canOpen ? (
        <button
          type="button"
          aria-label={text.preview(file.name)}
          className={`${place} hover:bg-hover`}
          onClick={onOpen}
        >
          {name}
        </button>
      ) : (
        <span className={place}>{name}</span>
      )}
      <span className="self-center text-xs whitespace-nowrap text-muted">{formatBytes(file.size)}</span>
      <DownloadButton file={file} />
    </div>
  )
}

function DownloadButton({ file }: { file: PortalFile }) {
  const text = usePortalText()
  return (
    <button
      type="button"
      aria-label={text.download(file.name)}
      className="grid min-h-11 w-11 shrink-0 place-items-center text-muted hover:bg-hover"
      onClick={() => void saveFile(fetchFile(file.id), file.name)}
    >
      <Download size={16} aria-hidden />
    </button>
  )
}

/** The code that shows the content is loaded with the content. */
function FilePreview({ file, onClose }: { file: PortalFile; onClose: () => void }) {
  const text = usePortalText()
  const [blob, setBlob] = useState<Blob | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    let isShown = true
    void fetchFile(file.id)
      .then((response) => response.blob())
      .then(
        (read) => isShown && setBlob(read),
        (error: unknown) => isShown && setProblem(portalErrorMessage(error, text)),
      )
    return () => {
      isShown = false
    }
  }, [file.id, text])
  return (
    <Dialog label={file.name} onClose={onClose} className="max-w-4xl">
      <div className="flex max-h-[85dvh] flex-col gap-3 p-4 text-[0.9375rem]">
        <header className="flex items-center gap-2">
          <h2 className="min-w-0 flex-1 truncate text-base font-semibold">{file.name}</h2>
          <DownloadButton file={file} />
          <Button className="h-11" onClick={onClose}>
            {text.close}
          </Button>
        </header>
        {problem && <Alert>{problem}</Alert>}
        <div className="min-h-24 overflow-auto" tabIndex={0} role="region" aria-label={text.preview(file.name)}>
          {blob && (
            <Suspense>
              <FileContent file={file} blob={blob} firstRows={text.firstRows} />
            </Suspense>
          )}
        </div>
      </div>
    </Dialog>
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
