import { useState } from 'react'
import type { Client } from '../../api/client-queries.ts'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { TextArea, TextField } from '../../ui/form-fields.tsx'
import { clientsText } from './text.ts'

export function ClientForm({ client, onClose }: { client?: Client; onClose: () => void }) {
  const [name, setName] = useState(client?.display_name ?? '')
  const [handles, setHandles] = useState(client?.handles.join('\n') ?? '')
  const save = useApiMutation(
    () => {
      const body = { display_name: name || null, handles: handles.split(/[\s,]+/).filter(Boolean) }
      return client ? callOperation('updateClient', { id: client.id, body }) : callOperation('createClient', { body })
    },
    { invalidates: ['clients'], onSuccess: onClose },
  )
  return (
    <FormDialog
      title={client ? clientsText.editClient : clientsText.newClient}
      submitLabel={client ? clientsText.save : clientsText.create}
      canSubmit={name.trim() !== '' || handles.trim() !== ''}
      mutation={save}
      onClose={onClose}
    >
      <TextField label={clientsText.name} value={name} onChange={setName} />
      <TextArea label={clientsText.addresses} hint={clientsText.addressesHint} value={handles} onChange={setHandles} />
    </FormDialog>
  )
}
