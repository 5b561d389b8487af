import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Channel } from '../../api/client-queries.ts'
import { callOperation } from '../../api/http.ts'
import { toObject } from '../../api/json.ts'
import { useApiMutation } from '../../api/mutation.ts'
import type { Json } from '../../api/types.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { TextArea, TextField } from '../../ui/form-fields.tsx'
import { showToast } from '../../ui/toast.tsx'
import { useDeclaredInput } from '../run/task-input.tsx'
import { channelsText } from './text.ts'

/** Posts a message to the channel as a provider would. The task that it starts is real. */
export function TestMessageForm({ channel, onClose }: { channel: Channel; onClose: () => void }) {
  const { id, address, wedge, task_type } = channel
  const navigate = useNavigate()
  const declared = useDeclaredInput(wedge, task_type)
  const [typed, setTyped] = useState<Partial<Message>>({})
  const { handle, subject, body } = { ...toMessage(declared.example), ...typed }
  const fieldProps = (name: 'subject' | 'body') => ({
    value: name === 'subject' ? subject : body,
    hint: declared.fields.find((field) => field.name === name)?.hint,
    onChange: (value: string) => setTyped({ ...typed, [name]: value }),
  })
  const send = useApiMutation(
    () => callOperation('receiveMessage', { id, body: { from: { handle }, ...(subject && { subject }), body } }),
    {
      invalidates: ['clients', 'tasks'],
      onSuccess({ thread_id }) {
        showToast(channelsText.testReceived)
        void navigate({ to: '/conversations/$threadId', params: { threadId: thread_id } })
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
      <TextField
        label={channelsText.from}
        placeholder={channelsText.fromExample}
        value={handle}
        onChange={(value) => setTyped({ ...typed, handle: value })}
      />
      <TextField label={channelsText.subject} {...fieldProps('subject')} />
      <TextArea label={channelsText.message} rows={4} {...fieldProps('body')} />
    </FormDialog>
  )
}

interface Message {
  handle: string
  subject: string
  body: string
}

/** The message that would start a task with this input. */
function toMessage(input: Json): Message {
  const { from, subject, body } = toObject(input)
  return { handle: stringOf(toObject(from)['handle']), subject: stringOf(subject), body: stringOf(body) }
}

const stringOf = (value: Json) => (typeof value === 'string' ? value : '')
