import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import type { Connection } from '../../api/setup-queries.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { showToast } from '../../ui/toast.tsx'

/** Write-only: what is stored is sealed, and nothing reads it back. */
export function SecretForm({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const [value, setValue] = useState('')
  const save = useApiMutation(
    () => callApi(`/v1/connections/${connection.id}/secret`, { method: 'POST', body: { value } }),
    {
      invalidates: ['connections', 'blueprints'],
      onSuccess: () => {
        showToast(`The secret of ${connection.name} is sealed`)
        onClose()
      },
    },
  )
  return (
    <FormDialog
      title={`Secret of ${connection.name}`}
      submitLabel="Seal it"
      canSubmit={value !== ''}
      mutation={save}
      onClose={onClose}
    >
      <TextField
        label="Secret"
        hint="Stored sealed. Neither the API nor an agent can read it back."
        type="password"
        autoComplete="off"
        value={value}
        onChange={setValue}
      />
    </FormDialog>
  )
}
