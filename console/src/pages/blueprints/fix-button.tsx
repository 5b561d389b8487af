import { useState } from 'react'
import { fetchResponse } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import type { BlueprintReadiness, ReadinessFix } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { TextField } from '../../ui/form-fields.tsx'
import { humanize } from '../../ui/humanize.ts'
import { fillPlaceholders, listPlaceholders } from './placeholders.ts'
import { blueprintsText } from './text.ts'

export type ChecklistItem = BlueprintReadiness['items'][number]

/** Whether the connect dialog fixes the item: a connection that is missing, or that lacks its config or credential. */
export function isConnectFix({ kind, fix }: ChecklistItem): boolean {
  if (fix === null) return false
  if (kind === 'connection') return isProvision(fix)
  if (kind === 'config') return true
  return fix.method === 'POST' && (kind === 'secret' || kind === 'authorisation')
}

const isProvision = ({ path }: ReadinessFix) => path.endsWith('/provision')

/** Opens the connect dialog. A missing connection is first created as the blueprint describes it. */
export function ConnectButton({
  item,
  fix,
  label,
  onConnect,
}: {
  item: string
  fix: ReadinessFix
  label: string
  onConnect: () => void
}) {
  const provision = useApiMutation(() => fetchResponse(fix.path, { method: 'POST', body: fix.body ?? {} }), {
    invalidates: ['blueprints', 'connections', 'schedules', 'wedges'],
    onSuccess: onConnect,
  })
  return (
    <Button small disabled={provision.isPending} onClick={() => (isProvision(fix) ? provision.mutate() : onConnect())}>
      {label}
      <span className="sr-only">{blueprintsText.fixFor(item)}</span>
    </Button>
  )
}

/** Sends the request of the fix, after asking for the values that only a person knows. */
export function FixButton({ label, item, fix }: { label: string; item: string; fix: ReadinessFix }) {
  const placeholders = listPlaceholders(fix.body)
  const [open, setOpen] = useState(false)
  const [values, setValues] = useState<Record<string, string>>({})
  const apply = useApiMutation(
    () =>
      fetchResponse(fix.path, { method: fix.method, ...(fix.body && { body: fillPlaceholders(fix.body, values) }) }),
    {
      invalidates: ['blueprints', 'connections', 'schedules', 'wedges'],
      onSuccess: () => setOpen(false),
    },
  )
  return (
    <>
      <Button
        small
        disabled={apply.isPending}
        onClick={() => (placeholders.length > 0 ? setOpen(true) : apply.mutate())}
      >
        {label}
        <span className="sr-only">{blueprintsText.fixFor(item)}</span>
      </Button>
      {open && (
        <FormDialog
          title={blueprintsText.fixDialog(label, item)}
          submitLabel={blueprintsText.save}
          canSubmit={placeholders.every((name) => values[name])}
          mutation={apply}
          onClose={() => setOpen(false)}
        >
          {placeholders.map((name) => (
            <TextField
              key={name}
              label={humanize(name)}
              autoComplete="off"
              value={values[name] ?? ''}
              onChange={(to) => setValues({ ...values, [name]: to })}
            />
          ))}
        </FormDialog>
      )}
    </>
  )
}
