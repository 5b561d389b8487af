import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Channel } from '../../api/customers.ts'
import { call } from '../../api/http.ts'
import { connectionsQuery } from '../../api/setup.ts'
import { useWrite } from '../../api/write.ts'
import { Choice, Text } from '../../ui/form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { TaskTypeFields, useTaskType } from '../wedges/task-type.tsx'

export function ChannelForm({ onClose, onMade }: { onClose: () => void; onMade: (channel: Channel) => void }) {
  const { data: connections = [], isSuccess } = useQuery(connectionsQuery)
  const [address, setAddress] = useState('')
  const [through, setThrough] = useState('')
  const chosen = useTaskType()
  const connection_id = through || (connections[0]?.id ?? '')
  const { wedge, task_type } = chosen
  const save = useWrite(
    () => call<Channel>('/v1/channels', { method: 'POST', body: { connection_id, address, wedge, task_type } }),
    { stale: ['channels'], onDone: onMade },
  )
  return (
    <FormDialog
      title="New channel"
      submit="Save"
      ready={address.trim() !== '' && connection_id !== '' && task_type !== ''}
      write={save}
      onClose={onClose}
    >
      <Text
        label="Address"
        hint="a mailbox, a number or a name: what people write to"
        placeholder="help@example.com"
        value={address}
        onChange={setAddress}
      />
      <TaskTypeFields chosen={chosen} />
      <Choice
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
