import { useState } from 'react'
import { call } from '../../api/http.ts'
import { useWrite } from '../../api/write.ts'
import { Text } from '../../ui/form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { toast } from '../../ui/toast.tsx'

const SHORTEST = 10

export function OwnPassword({ onClose }: { onClose: () => void }) {
  const [password, setPassword] = useState('')
  const [fresh, setFresh] = useState('')
  const change = useWrite(
    () => call('/v1/auth/password', { method: 'POST', body: { password, new_password: fresh } }),
    {
      stale: [],
      onDone: () => {
        onClose()
        toast('Your password is changed; your other sessions are over')
      },
    },
  )
  return (
    <FormDialog
      title="Your password"
      submit="Change it"
      ready={password !== '' && fresh.length >= SHORTEST}
      write={change}
      onClose={onClose}
    >
      <Text label="Password" type="password" autoComplete="current-password" value={password} onChange={setPassword} />
      <Text
        label="New password"
        hint={`At least ${SHORTEST} characters. Wherever else you are signed in, you will be signed out.`}
        type="password"
        autoComplete="new-password"
        value={fresh}
        onChange={setFresh}
      />
    </FormDialog>
  )
}
