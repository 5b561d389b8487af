import { ApiError } from '../api/request.ts'
import { Paperclip, X } from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import { newIdempotencyKey } from '../api/idempotency-key.ts'
import { Button } from '../ui/button.tsx'
import { withoutSent } from '../ui/unsent-text.ts'
import { useDraft } from './drafts.ts'
import { portalErrorMessage } from './error-message.ts'
import { Alert } from './frame.tsx'
import { useBytesFormat, usePortalText } from './language.tsx'
import { type NewMessage, type PortalFile, uploadFile } from './portal-api.ts'

const MAX_FILES = 20

interface ComposerProps {
  /** The key of the draft. */
  draft: string
  rows?: number
  maxFileBytes: number
  /** Returns what went wrong; null: the message was sent. */
  onSend: (message: NewMessage) => Promise<string | null>
}

/** The field for a message, with files. */
export function Composer({ rows = 2, ...props }: ComposerProps) {
  const text = usePortalText()
  const { body, setBody, uploads, problem, canSend, send } = useMessage(props)
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    void send()
  }
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => (event.preventDefault(), void send())}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => (event.preventDefault(), uploads.add(event.dataTransfer.files))}
    >
      {problem && <Alert>{problem}</Alert>}
      <FileChips uploads={uploads} />
      <textarea
        aria-label={text.yourMessage}
        placeholder={text.messagePlaceholder}
        rows={rows}
        maxLength={10_000}
        className="field resize-y text-[1rem]"
        value={body}
        onChange={(event) => setBody(event.target.value)}
        onPaste={(event) => uploads.add(event.clipboardData.files)}
        onKeyDown={onKeyDown}
      />
      <div className="flex items-center gap-2">
        <AttachButton onFiles={uploads.add} />
        <Button type="submit" variant="primary" className="ml-auto h-11 px-5 text-[0.9375rem]" disabled={!canSend}>
          {text.send}
        </Button>
      </div>
    </form>
  )
}

/** A message that is being written. After it is sent, what was typed meanwhile stays. */
function useMessage({ draft: key, maxFileBytes, onSend }: Omit<ComposerProps, 'rows'>) {
  const [{ body, idempotencyKey }, change] = useDraft(key)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const uploads = useUploads(key, maxFileBytes, setProblem)
  const canSend = !busy && uploads.pending === 0 && (body.trim() !== '' || uploads.files.length > 0)
  const send = async () => {
    if (!canSend) return
    setBusy(true)
    const files = uploads.files.map(({ id }) => id)
    const failed = await onSend({ body, files, idempotencyKey })
    setProblem(failed)
    if (failed === null) {
      const next = { idempotencyKey: newIdempotencyKey() }
      change((draft) => ({ ...draft, ...next, body: withoutSent(draft.body, body.trim()) }))
      uploads.remove(files)
    }
    setBusy(false)
  }
  const setBody = (typed: string) => change((draft) => ({ ...draft, body: typed }))
  return { body, setBody, uploads, problem, canSend, send }
}

interface Uploads {
  files: PortalFile[]
  /** How many files are on their way. */
  pending: number
  add: (list: FileList) => void
  remove: (ids: string[]) => void
}

function useUploads(key: string, maxFileBytes: number, onProblem: (problem: string | null) => void): Uploads {
  const text = usePortalText()
  const [{ files }, change] = useDraft(key)
  const [pending, setPending] = useState(0)
  const formatBytes = useBytesFormat()
  const uploadProblem = (error: unknown) => {
    if (!(error instanceof ApiError)) return portalErrorMessage(error, text)
    if (error.status === 413) return text.fileTooLarge(formatBytes(maxFileBytes))
    return error.status === 429 ? text.storageFull : portalErrorMessage(error, text)
  }
  const upload = async (file: File) => {
    setPending((count) => count + 1)
    try {
      const stored = await uploadFile(file)
      change((draft) => ({ ...draft, files: [...draft.files, stored] }))
    } catch (error) {
      onProblem(`${file.name}: ${uploadProblem(error)}`)
    }
    setPending((count) => count - 1)
  }
  return {
    files,
    pending,
    add: (list) => {
      onProblem(null)
      for (const file of [...list].slice(0, MAX_FILES - files.length)) void upload(file)
    },
    remove: (ids) => change((draft) => ({ ...draft, files: draft.files.filter(({ id }) => !ids.includes(id)) })),
  }
}

function FileChips({ uploads: { files, pending, remove } }: { uploads: Uploads }) {
  const text = usePortalText()
  const formatBytes = useBytesFormat()
  if (files.length + pending === 0) return null
  return (
    <ul className="flex flex-wrap gap-2 text-sm">
      {files.map(({ id, name, size }) => (
        <li key={id} className="flex max-w-full items-center gap-1.5 rounded-md bg-off-soft py-1 pr-1 pl-2.5">
          <span className="truncate">{name}</span>
          <span className="whitespace-nowrap text-muted">{formatBytes(size)}</span>
          <Button
            small
            variant="ghost"
            className="px-1"
            aria-label={text.removeFile(name)}
            onClick={() => remove([id])}
          >
            <X size={14} aria-hidden />
          </Button>
        </li>
      ))}
      {pending > 0 && (
        <li role="status" className="animate-breathe px-2 py-1 text-muted">
          {text.uploading}
        </li>
      )}
    </ul>
  )
}

function AttachButton({ onFiles }: { onFiles: (list: FileList) => void }) {
  const text = usePortalText()
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button
        variant="ghost"
        className="h-11"
        icon={<Paperclip size={16} aria-hidden />}
        onClick={() => input.current?.click()}
      >
        {text.attach}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          if (event.target.files) onFiles(event.target.files)
          event.target.value = ''
        }}
      />
    </>
  )
}
