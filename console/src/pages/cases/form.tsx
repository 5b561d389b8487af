import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import type { WedgeSummary } from '../../api/types.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Select, TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { humanize } from '../../ui/humanize.ts'

export function CaseForm({
  wedge: { wedge, title: wedgeTitle, manifest },
  onClose,
}: {
  wedge: WedgeSummary
  onClose: () => void
}) {
  const [title, setTitle] = useState('')
  const [stage, setStage] = useState(manifest.cases?.initial ?? '')
  const save = useApiMutation(() => callApi('/v1/cases', { method: 'POST', body: { wedge, title, stage } }), {
    invalidates: ['cases'],
    onSuccess: onClose,
  })
  return (
    <FormDialog
      title={`New case of ${wedgeTitle}`}
      submitLabel="Open the case"
      canSubmit={title.trim() !== ''}
      mutation={save}
      onClose={onClose}
    >
      <TextField label="Title" value={title} onChange={setTitle} />
      <Select
        label="Stage"
        value={stage}
        options={(manifest.cases?.stages ?? []).map((one) => [one, humanize(one)])}
        onChange={setStage}
      />
    </FormDialog>
  )
}
