import { useState } from 'react'
import { useApiMutation } from '../api/mutation.ts'
import { Button } from './button.tsx'
import { TextField } from './form-fields.tsx'
import { capitalize } from './humanize.ts'
import { uiText } from './text.ts'
import { showToast } from './toast.tsx'

const text = uiText.secret

/** A form for a secret. The service stores it encrypted and never shows it again. */
export function SecretForm({
  onSave,
  invalidates,
  what,
  hasSecret,
}: {
  onSave: (value: string) => Promise<unknown>
  invalidates: string[]
  /** What the secret is, in the words of the server. */
  what: string
  hasSecret: boolean
}) {
  const [value, setValue] = useState('')
  const save = useApiMutation(() => onSave(value), {
    invalidates,
    onSuccess: () => {
      setValue('')
      showToast(text.saved)
    },
  })
  return (
    <form className="flex items-end gap-2 *:first:grow" onSubmit={(event) => (event.preventDefault(), save.mutate())}>
      <TextField
        label={text.label}
        hint={`${capitalize(what)}.`}
        type="password"
        autoComplete="off"
        placeholder={hasSecret ? text.stored : ''}
        value={value}
        onChange={setValue}
      />
      <Button type="submit" className="mb-5.5" disabled={value === '' || save.isPending}>
        {text.save}
      </Button>
    </form>
  )
}
