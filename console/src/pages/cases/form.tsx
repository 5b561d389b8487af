import { useState } from 'react'
import { call } from '../../api/http.ts'
import type { WedgeSummary } from '../../api/types.ts'
import { useWrite } from '../../api/write.ts'
import { Choice, Text } from '../../ui/form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { humanize } from '../../ui/json.tsx'

export function CaseForm({
  wedge: { wedge, title: wedgeTitle, manifest },
  onClose,
}: {
  wedge: WedgeSummary
  onClose: () => void
}) {
  const [title, setTitle] = useState('')
  const [stage, setStage] = useState(manifest.cases?.initial ?? '')
  const save = useWrite(() => call('/v1/cases', { method: 'POST', body: { wedge, title, stage } }), {
    stale: ['cases'],
    onDone: onClose,
  })
  return (
    <FormDialog
      title={`New case of ${wedgeTitle}`}
      submit="Open the case"
      ready={title.trim() !== ''}
      write={save}
      onClose={onClose}
    >
      <Text label="Title" value={title} onChange={setTitle} />
      <Choice
        label="Stage"
        value={stage}
        options={(manifest.cases?.stages ?? []).map((one) => [one, humanize(one)])}
        onChange={setStage}
      />
    </FormDialog>
  )
}
