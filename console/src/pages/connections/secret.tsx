import { useState } from 'react'
import { call } from '../../api/http.ts'
import type { Connection } from '../../api/setup.ts'
import { useWrite } from '../../api/write.ts'
import { Text } from '../../ui/form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { toast } from '../../ui/toast.tsx'

/** Write-only: what is stored is sealed, and nothing reads it back. */
export function SecretForm({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const [value, setValue] = useState('')
  const save = useWrite(() => call(`/v1/connections/${connection.id}/secret`, { method: 'POST', body: { value } }), {
    stale: ['connections', 'blueprints'],
    onDone: () => {
      toast(`The secret of ${connection.name} is sealed`)
      onClose()
    },
  })
  return (
    <FormDialog
      title={`Secret of ${connection.name}`}
      submit="Seal it"
      ready={value !== ''}
      write={save}
      onClose={onClose}
    >
      <Text
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
