import { useState } from 'react'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import type { WedgeSummary } from '../../api/types.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Select, TextField } from '../../ui/form-fields.tsx'
import { humanize } from '../../ui/humanize.ts'
import { casesText } from './text.ts'

export function CaseForm({
  wedge: { wedge, title: wedgeTitle, manifest },
  onClose,
}: {
  wedge: WedgeSummary
  onClose: () => void
}) {
  const [title, setTitle] = useState('')
  const [stage, setStage] = useState(manifest.cases?.initial ?? '')
  const save = useApiMutation(() => callOperation('createCase', { body: { wedge, title, stage } }), {
    invalidates: ['cases'],
    onSuccess: onClose,
  })
  return (
    <FormDialog
      title={casesText.newCaseIn(wedgeTitle)}
      submitLabel={casesText.create}
      canSubmit={title.trim() !== ''}
      mutation={save}
      onClose={onClose}
    >
      <TextField label={casesText.titleLabel} value={title} onChange={setTitle} />
      <Select
        label={casesText.stage}
        value={stage}
        options={(manifest.cases?.stages ?? []).map((name) => [name, humanize(name)])}
        onChange={setStage}
      />
    </FormDialog>
  )
}
