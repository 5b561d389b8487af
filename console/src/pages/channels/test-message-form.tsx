import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Channel } from '../../api/client-queries.ts'
import { callApi } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { TextArea, TextField } from '../../ui/form-fields.tsx'
import { showToast } from '../../ui/toast.tsx'
import { channelsText } from './text.ts'

/** Posts a message to the channel as a provider would. The task that it starts is real. */
export function TestMessageForm({ channel: { id, address }, onClose }: { channel: Channel; onClose: () => void }) {
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
        showToast(channelsText.testReceived)
        void navigate({ to: '/threads/$threadId', params: { threadId: thread_id } })
      },
    },
  )
  return (
    <FormDialog
      title={channelsText.sendTestTo(address)}
      submitLabel={channelsText.send}
      canSubmit={handle.trim() !== '' && body !== ''}
      mutation={send}
      onClose={onClose}
    >
      <p className="text-muted">{channelsText.sendTestHint}</p>
      <TextField label={channelsText.from} placeholder={channelsText.fromExample} value={handle} onChange={setHandle} />
      <TextField label={channelsText.subject} value={subject} onChange={setSubject} />
      <TextArea label={channelsText.message} rows={4} value={body} onChange={setBody} />
    </FormDialog>
  )
}
