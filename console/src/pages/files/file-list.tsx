import { useMutation, useQuery } from '@tanstack/react-query'
import { Download, File as FileIcon, FileImage, FileText } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { fileContentQuery, type ReadFile, readFile, type ShownFile } from '../../api/file-queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { formatBytes } from '../../ui/format.ts'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { previewKind } from '../../ui/preview-kind.ts'
import { filesText } from './text.ts'

const FileContent = lazy(async () => ({ default: (await import('../../ui/file-content.tsx')).FileContent }))

/** Files with their size. A file that can be shown opens in a dialog; every file can be downloaded. */
export function FileList({
  files,
  label = filesText.files,
  read = readFile,
}: {
  files: ShownFile[]
  label?: string
  read?: ReadFile
}) {
  const [open, setOpen] = useState<ShownFile | null>(null)
  return (
    <>
      <ul aria-label={label} className="flex flex-col gap-1">
        {files.map((file) => (
          <li key={file.id} className="flex h-8 items-center gap-1 rounded-md border border-line bg-surface pr-1 pl-2">
            <FileKindIcon file={file} />
            {previewKind(file) === null ? (
              <span className="min-w-0 truncate">{file.name}</span>
            ) : (
              <button
                type="button"
                onClick={() => setOpen(file)}
                aria-label={filesText.preview(file.name)}
                className="min-w-0 truncate text-accent underline"
              >
                {file.name}
              </button>
            )}
            <span className="ml-auto pl-2 text-xs whitespace-nowrap text-muted">{formatBytes(file.size)}</span>
            <DownloadButton file={file} read={read} />
          </li>
        ))}
      </ul>
      {open && <FilePreview file={open} read={read} onClose={() => setOpen(null)} />}
    </>
  )
}

/** The dialog opens at once; the code that shows the content is loaded with the content. */
function FilePreview({ file, read, onClose }: { file: ShownFile; read: ReadFile; onClose: () => void }) {
  const query = useQuery(fileContentQuery(file, read))
  return (
    <Dialog label={filesText.previewOf(file.name)} onClose={onClose} className="max-w-4xl">
      <div className="flex max-h-[85dvh] flex-col gap-3 p-4">
        <header className="flex items-center gap-2">
          <h2 className="min-w-0 truncate text-base font-semibold">{file.name}</h2>
          <span className="ml-auto flex gap-1">
            <DownloadButton file={file} read={read} />
            <Button small onClick={onClose}>
              {filesText.close}
            </Button>
          </span>
        </header>
        <div className="min-h-24 overflow-auto" tabIndex={0} role="region" aria-label={filesText.contentOf(file.name)}>
          <QueryResult query={query}>
            {(blob) => (
              <Suspense>
                <FileContent file={file} blob={blob} firstRows={filesText.firstRows} />
              </Suspense>
            )}
          </QueryResult>
        </div>
      </div>
    </Dialog>
  )
}

function FileKindIcon({ file }: { file: ShownFile }) {
  const kind = previewKind(file)
  const Icon = kind === 'image' ? FileImage : kind === null ? FileIcon : FileText
  return <Icon size={14} aria-hidden className="shrink-0 text-muted" />
}

function DownloadButton({ file, read }: { file: ShownFile; read: ReadFile }) {
  const { name } = file
  const download = useMutation({ mutationFn: () => saveFile(read(file), name) })
  return (
    <MutationButton
      small
      variant="ghost"
      aria-label={filesText.download(name)}
      mutation={download}
      icon={<Download size={14} />}
    />
  )
}
