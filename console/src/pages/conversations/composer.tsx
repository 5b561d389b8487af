import { Send } from 'lucide-react'
import { type DragEvent, type KeyboardEvent, useRef } from 'react'
import type { Thread } from '../../api/conversation-queries.ts'
import { callOperation } from '../../api/http.ts'
import { toText } from '../../api/json.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { Button, KeyCap } from '../../ui/button.tsx'
import { useUnsent } from '../../ui/unsent-text.ts'
import { AttachButton, AttachmentList, type Attachments, useAttachments } from '../files/file-picker.tsx'
import { conversationsText } from './text.ts'

/** The field for an answer of a person. It is sent at once, without an approval: the person has decided. */
export function Composer({ thread }: { thread: Thread }) {
  const field = useRef<HTMLTextAreaElement>(null)
  const attachments = useAttachments()
  const { body, change, canSend, submit } = useReply(thread.id, attachments)
  useShortcuts({ c: () => field.current?.focus() })
  if (thread.status === 'closed')
    return <p className="border-t border-line bg-surface p-4 text-muted">{conversationsText.closedHint}</p>
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
    if (event.key === 'Escape') field.current?.blur()
  }
  const onDrop = (event: DragEvent) => {
    if (event.dataTransfer.files.length === 0) return
    event.preventDefault()
    attachments.add(event.dataTransfer.files)
  }
  return (
    <form
      onSubmit={(event) => (event.preventDefault(), submit())}
      onDragOver={(event) => event.dataTransfer.types.includes('Files') && event.preventDefault()}
      onDrop={onDrop}
      className="flex flex-col gap-2 border-t border-line bg-surface p-3"
    >
      <textarea
        ref={field}
        aria-label={conversationsText.message}
        placeholder={conversationsText.placeholder}
        rows={3}
        maxLength={20_000}
        className="field"
        value={body}
        onChange={(event) => change(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => attachments.add(event.clipboardData.files)}
      />
      <AttachmentList attachments={attachments} />
      <div className="flex items-center gap-2">
        <AttachButton attachments={attachments} />
        <DeliveryHint thread={thread} />
        <Button type="submit" variant="primary" className="ml-auto" disabled={!canSend} icon={<Send size={14} />}>
          {conversationsText.send} <KeyCap>{conversationsText.sendShortcut}</KeyCap>
        </Button>
      </div>
    </form>
  )
}

function useReply(threadId: string, attachments: Attachments) {
  const { value, change, removeSent } = useUnsent(`reply ${threadId}`)
  const body = toText(value ?? '')
  const send = useApiMutation(
    () => {
      const files = attachments.files.map((file) => file.id)
      const message = { body: body.trim(), ...(files.length > 0 && { files }) }
      return callOperation('createThreadMessage', { id: threadId, body: message })
    },
    {
      invalidates: ['tasks', 'work'],
      onSuccess: (sent) => {
        removeSent(sent.body)
        attachments.remove(sent.files.map(({ id }) => id))
      },
    },
  )
  const canSend = body.trim() !== '' && !attachments.isUploading && !send.isPending
  return { body, change, canSend, submit: () => canSend && send.mutate() }
}

/** How the client gets the answer. */
function DeliveryHint({ thread: { channel } }: { thread: Thread }) {
  return (
    <span className="min-w-0 text-xs text-muted">
      {channel?.adapter ? conversationsText.sentThrough(channel.address) : conversationsText.portalOnly}
    </span>
  )
}
