import { useState } from 'react'
import type { Client } from '../../api/client-queries.ts'
import { callApi } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { TextArea, TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'

export function ClientForm({ client, onClose }: { client?: Client; onClose: () => void }) {
  const [name, setName] = useState(client?.display_name ?? '')
  const [handles, setHandles] = useState(client?.handles.join('\n') ?? '')
  const save = useApiMutation(
    () =>
      callApi<Client>(client ? `/v1/clients/${client.id}` : '/v1/clients', {
        method: client ? 'PUT' : 'POST',
        body: { display_name: name || null, handles: handles.split(/[\s,]+/).filter(Boolean) },
      }),
    { invalidates: ['clients'], onSuccess: onClose },
  )
  return (
    <FormDialog
      title={client ? 'Change the client' : 'New client'}
      submitLabel="Save"
      canSubmit={name.trim() !== '' || handles.trim() !== ''}
      mutation={save}
      onClose={onClose}
    >
      <TextField label="Name" value={name} onChange={setName} />
      <TextArea
        label="Handles"
        hint="addresses that they write from, one a line"
        value={handles}
        onChange={setHandles}
      />
    </FormDialog>
  )
}
