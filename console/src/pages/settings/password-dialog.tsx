import { useState } from 'react'
import { callOperation } from '../../api/http.ts'
import { MIN_PASSWORD_CHARS } from '../../api/types.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { showToast } from '../../ui/toast.tsx'
import { settingsText } from './text.ts'

const text = settingsText.password

export function PasswordDialog({ onClose }: { onClose: () => void }) {
  const [password, setPassword] = useState('')
  const [newPassword, setNewPassword] = useState('')
  const change = useApiMutation(
    () => callOperation('changePassword', { body: { password, new_password: newPassword } }),
    {
      invalidates: [],
      onSuccess: () => {
        onClose()
        showToast(text.changed)
      },
    },
  )
  return (
    <FormDialog
      title={text.title}
      submitLabel={text.submit}
      canSubmit={password !== '' && newPassword.length >= MIN_PASSWORD_CHARS}
      mutation={change}
      onClose={onClose}
    >
      <TextField
        label={text.current}
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
      />
      <TextField
        label={text.new}
        hint={text.hint(MIN_PASSWORD_CHARS)}
        type="password"
        autoComplete="new-password"
        value={newPassword}
        onChange={setNewPassword}
      />
    </FormDialog>
  )
}
