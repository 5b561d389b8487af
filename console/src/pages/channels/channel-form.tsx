import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Channel } from '../../api/client-queries.ts'
import { callApi } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { connectionsQuery } from '../../api/setup-queries.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Select, TextField } from '../../ui/form-fields.tsx'
import { useDeclaredInput } from '../run/task-input.tsx'
import { TaskTypeFields, useTaskType } from '../wedges/task-type-fields.tsx'
import { channelsText } from './text.ts'

/** What the input of a task that a message starts has. */
const MESSAGE_FIELDS = ['from', 'body', 'subject', 'thread_id']

export function ChannelForm({ onClose, onCreated }: { onClose: () => void; onCreated: (channel: Channel) => void }) {
  const { data: connections = [], isSuccess } = useQuery(connectionsQuery)
  const [address, setAddress] = useState('')
  const [chosenConnection, setChosenConnection] = useState('')
  const chosen = useTaskType()
  // Any other kind may be an API that carries no messages, such as a payment provider, so it has to be chosen.
  const connection_id = chosenConnection || (connections.find(({ kind }) => kind === 'email')?.id ?? '')
  const { wedge, task_type } = chosen
  const missing = useDeclaredInput(wedge, task_type).fields.filter(
    ({ name, required }) => required && !MESSAGE_FIELDS.includes(name),
  )
  const save = useApiMutation(
    () => callApi<Channel>('/v1/channels', { method: 'POST', body: { connection_id, address, wedge, task_type } }),
    { invalidates: ['channels'], onSuccess: onCreated },
  )
  return (
    <FormDialog
      title={channelsText.newChannel}
      submitLabel={channelsText.create}
      canSubmit={address.trim() !== '' && connection_id !== '' && task_type !== ''}
      mutation={save}
      onClose={onClose}
    >
      <TextField
        label={channelsText.address}
        hint={channelsText.addressHint}
        placeholder={channelsText.addressExample}
        value={address}
        onChange={setAddress}
      />
      <TaskTypeFields chosen={chosen} />
      {missing.length > 0 && (
        <p role="status" className="-mt-2 text-xs text-wait">
          {channelsText.missingFields(
            MESSAGE_FIELDS,
            missing.map(({ name }) => name),
          )}
        </p>
      )}
      <Select
        label={channelsText.replyConnection}
        value={connection_id}
        options={[
          ...(connection_id === '' ? [['', channelsText.choose] satisfies [string, string]] : []),
          ...connections.map(({ id, name }): [string, string] => [id, name]),
        ]}
        onChange={setChosenConnection}
      />
      {isSuccess && connections.length === 0 && (
        <p className="text-wait">
          {channelsText.noConnections}{' '}
          <Link to="/connections" className="underline">
            {channelsText.createConnection}
          </Link>
        </p>
      )}
    </FormDialog>
  )
}
