import { useState } from 'react'
import type { Client } from '../../api/customers.ts'
import { call } from '../../api/http.ts'
import { useWrite } from '../../api/write.ts'
import { Area, Text } from '../../ui/form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'

export function ClientForm({ client, onClose }: { client?: Client; onClose: () => void }) {
  const [name, setName] = useState(client?.display_name ?? '')
  const [handles, setHandles] = useState(client?.handles.join('\n') ?? '')
  const save = useWrite(
    () =>
      call<Client>(client ? `/v1/clients/${client.id}` : '/v1/clients', {
        method: client ? 'PUT' : 'POST',
        body: { display_name: name || null, handles: handles.split(/[\s,]+/).filter(Boolean) },
      }),
    { stale: ['clients'], onDone: onClose },
  )
  return (
    <FormDialog
      title={client ? 'Change the client' : 'New client'}
      submit="Save"
      ready={name.trim() !== '' || handles.trim() !== ''}
      write={save}
      onClose={onClose}
    >
      <Text label="Name" value={name} onChange={setName} />
      <Area label="Handles" hint="addresses that they write from, one a line" value={handles} onChange={setHandles} />
    </FormDialog>
  )
}
