import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Channel } from '../../api/client-queries.ts'
import { callApi } from '../../api/http.ts'
import { connectionsQuery } from '../../api/setup-queries.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Select, TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { TaskTypeFields, useTaskType } from '../wedges/task-type.tsx'

export function ChannelForm({ onClose, onMade }: { onClose: () => void; onMade: (channel: Channel) => void }) {
  const { data: connections = [], isSuccess } = useQuery(connectionsQuery)
  const [address, setAddress] = useState('')
  const [through, setThrough] = useState('')
  const chosen = useTaskType()
  const connection_id = through || (connections[0]?.id ?? '')
  const { wedge, task_type } = chosen
  const save = useApiMutation(
    () => callApi<Channel>('/v1/channels', { method: 'POST', body: { connection_id, address, wedge, task_type } }),
    { invalidates: ['channels'], onSuccess: onMade },
  )
  return (
    <FormDialog
      title="New channel"
      submitLabel="Save"
      canSubmit={address.trim() !== '' && connection_id !== '' && task_type !== ''}
      mutation={save}
      onClose={onClose}
    >
      <TextField
        label="Address"
        hint="a mailbox, a number or a name: what people write to"
        placeholder="help@example.com"
        value={address}
        onChange={setAddress}
      />
      <TaskTypeFields chosen={chosen} />
      <Select
        label="Answered through"
        value={connection_id}
        options={connections.map(({ id, name }) => [id, name])}
        onChange={setThrough}
      />
      {isSuccess && connections.length === 0 && (
        <p className="text-wait">
          There is no connection yet.{' '}
          <Link to="/connections" className="underline">
            Make one first
          </Link>
          .
        </p>
      )}
    </FormDialog>
  )
}
