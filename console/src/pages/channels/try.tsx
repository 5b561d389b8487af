import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Channel } from '../../api/customers.ts'
import { call } from '../../api/http.ts'
import { useWrite } from '../../api/write.ts'
import { Area, Text } from '../../ui/form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { toast } from '../../ui/toast.tsx'

/** A message as if it had arrived; what it starts is real. */
export function TryForm({ channel: { id, address }, onClose }: { channel: Channel; onClose: () => void }) {
  const navigate = useNavigate()
  const [handle, setHandle] = useState('')
  const [subject, setSubject] = useState('')
  const [body, setBody] = useState('')
  const send = useWrite(
    () =>
      call<{ thread_id: string }>(`/v1/channels/${id}/inbound`, {
        method: 'POST',
        body: { from: { handle }, ...(subject && { subject }), body },
      }),
    {
      stale: ['clients', 'tasks'],
      onDone({ thread_id }) {
        toast('The message came in')
        void navigate({ to: '/threads/$threadId', params: { threadId: thread_id } })
      },
    },
  )
  return (
    <FormDialog
      title={`Write to ${address}`}
      submit="Send"
      ready={handle.trim() !== '' && body !== ''}
      write={send}
      onClose={onClose}
    >
      <p className="text-muted">As if it had arrived: a client, a conversation and a task are made.</p>
      <Text label="From" placeholder="grace@example.com" value={handle} onChange={setHandle} />
      <Text label="Subject" value={subject} onChange={setSubject} />
      <Area label="Message" rows={4} value={body} onChange={setBody} />
    </FormDialog>
  )
}
