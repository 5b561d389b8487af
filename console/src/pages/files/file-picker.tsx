import { Paperclip, X } from 'lucide-react'
import { useRef, useState } from 'react'
import { sendFile, type StoredFile } from '../../api/file-queries.ts'
import { errorMessage } from '../../api/http.ts'
import { Button } from '../../ui/button.tsx'
import { showToast } from '../../ui/toast.tsx'
import { filesText } from './text.ts'

export interface Attachments {
  files: StoredFile[]
  isUploading: boolean
  add: (chosen: Iterable<File>) => void
  remove: (ids: string[]) => void
}

/** Uploads the files that a person chooses. They are stored at once, and used when the form is sent. */
export function useAttachments(): Attachments {
  const [files, setFiles] = useState<StoredFile[]>([])
  const [uploads, setUploads] = useState(0)
  const upload = async (file: File) => {
    setUploads((count) => count + 1)
    try {
      const stored = await sendFile(file)
      setFiles((before) => [...before, stored])
    } catch (error) {
      showToast(filesText.failed(file.name, errorMessage(error)), true)
    } finally {
      setUploads((count) => count - 1)
    }
  }
  return {
    files,
    isUploading: uploads > 0,
    add: (chosen) => [...chosen].forEach((file) => void upload(file)),
    remove: (ids) => setFiles((before) => before.filter(({ id }) => !ids.includes(id))),
  }
}

/** A button that opens the file dialog of the browser. */
export function AttachButton({ attachments }: { attachments: Attachments }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={filesText.attach}
        onChange={({ target }) => {
          attachments.add(target.files ?? [])
          target.value = ''
        }}
      />
      <Button
        variant="ghost"
        aria-label={filesText.attach}
        onClick={() => input.current?.click()}
        icon={<Paperclip size={16} />}
      />
    </>
  )
}

/** The files that were chosen so far. */
export function AttachmentList({ attachments: { files, isUploading, remove } }: { attachments: Attachments }) {
  if (files.length === 0 && !isUploading) return null
  return (
    <ul aria-label={filesText.attached} className="flex flex-wrap gap-1">
      {files.map(({ id, name }) => (
        <li key={id} className="flex h-7 max-w-full items-center gap-1 rounded-md bg-off-soft pl-2">
          <span className="truncate">{name}</span>
          <Button
            small
            variant="ghost"
            aria-label={filesText.remove(name)}
            onClick={() => remove([id])}
            icon={<X size={14} />}
          />
        </li>
      ))}
      {isUploading && <li className="h-7 leading-7 text-muted">{filesText.uploading}</li>}
    </ul>
  )
}
