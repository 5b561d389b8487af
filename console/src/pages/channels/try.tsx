import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Channel } from '../../api/client-queries.ts'
import { callApi } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { TextArea, TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { showToast } from '../../ui/toast.tsx'

/** A message as if it had arrived; what it starts is real. */
export function TryForm({ channel: { id, address }, onClose }: { channel: Channel; onClose: () => void }) {
  const navigate = useNavigate()
  const [handle, setHandle] = useState('')
  const [subject, setSubject] = useState('')
  const [body, setBody] = useState('')
  const send = useApiMutation(
    () =>
      callApi<{ thread_id: string }>(`/v1/channels/${id}/inbound`, {
        method: 'POST',
        body: { from: { handle }, ...(subject && { subject }), body },
      }),
    {
      invalidates: ['clients', 'tasks'],
      onSuccess({ thread_id }) {
        showToast('The message came in')
        void navigate({ to: '/threads/$threadId', params: { threadId: thread_id } })
      },
    },
  )
  return (
    <FormDialog
      title={`Write to ${address}`}
      submitLabel="Send"
      canSubmit={handle.trim() !== '' && body !== ''}
      mutation={send}
      onClose={onClose}
    >
      <p className="text-muted">As if it had arrived: a client, a conversation and a task are made.</p>
      <TextField label="From" placeholder="grace@example.com" value={handle} onChange={setHandle} />
      <TextField label="Subject" value={subject} onChange={setSubject} />
      <TextArea label="Message" rows={4} value={body} onChange={setBody} />
    </FormDialog>
  )
}
