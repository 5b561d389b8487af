import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import type { Connection } from '../../api/setup-queries.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { TextField } from '../../ui/form-fields.tsx'
import { showToast } from '../../ui/toast.tsx'
import { LostSecretWarning } from './lost-secret-warning.tsx'
import { connectionsText } from './text.ts'

/** Write-only: the service stores the secret encrypted and no route returns it. */
export function SecretForm({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const [value, setValue] = useState('')
  const save = useApiMutation(
    () => callApi(`/v1/connections/${connection.id}/secret`, { method: 'POST', body: { value } }),
    {
      invalidates: ['connections', 'blueprints'],
      onSuccess: () => {
        showToast(connectionsText.secretSaved(connection.name))
        onClose()
      },
    },
  )
  return (
    <FormDialog
      title={connectionsText.secretFor(connection.name)}
      submitLabel={connectionsText.saveSecret}
      canSubmit={value !== ''}
      mutation={save}
      onClose={onClose}
    >
      <LostSecretWarning />
      <TextField
        label={connectionsText.secret}
        hint={connectionsText.secretHint}
        type="password"
        autoComplete="off"
        value={value}
        onChange={setValue}
      />
    </FormDialog>
  )
}
