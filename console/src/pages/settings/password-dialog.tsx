import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { showToast } from '../../ui/toast.tsx'

const MIN_PASSWORD_CHARS = 10

export function PasswordDialog({ onClose }: { onClose: () => void }) {
  const [password, setPassword] = useState('')
  const [fresh, setFresh] = useState('')
  const change = useApiMutation(
    () => callApi('/v1/auth/password', { method: 'POST', body: { password, new_password: fresh } }),
    {
      invalidates: [],
      onSuccess: () => {
        onClose()
        showToast('Your password is changed; your other sessions are over')
      },
    },
  )
  return (
    <FormDialog
      title="Your password"
      submitLabel="Change it"
      canSubmit={password !== '' && fresh.length >= MIN_PASSWORD_CHARS}
      mutation={change}
      onClose={onClose}
    >
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
      />
      <TextField
        label="New password"
        hint={`At least ${MIN_PASSWORD_CHARS} characters. Wherever else you are signed in, you will be signed out.`}
        type="password"
        autoComplete="new-password"
        value={fresh}
        onChange={setFresh}
      />
    </FormDialog>
  )
}
