import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Thread } from '../../api/conversation-queries.ts'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { wedgesQuery } from '../../api/queries.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Select, TextField } from '../../ui/form-fields.tsx'
import { casesText } from '../cases/text.ts'
import { conversationsText } from './text.ts'

const text = conversationsText.side

/** Opens a case about a conversation, for its client. */
export function NewCaseForm({ thread, onClose }: { thread: Thread; onClose: () => void }) {
  const { data: wedges = [] } = useQuery(wedgesQuery)
  const withCases = wedges.filter(({ manifest }) => manifest.cases)
  const [chosen, setChosen] = useState('')
  const [title, setTitle] = useState(thread.subject ?? '')
  const wedge = chosen || (withCases[0]?.wedge ?? '')
  const save = useApiMutation(
    () => callOperation('createCase', { body: { wedge, title: title.trim(), thread_id: thread.id } }),
    { invalidates: ['cases'], onSuccess: onClose },
  )
  return (
    <FormDialog
      title={text.openCase}
      submitLabel={text.create}
      canSubmit={wedge !== '' && title.trim() !== ''}
      mutation={save}
      onClose={onClose}
    >
      {withCases.length === 0 && <p className="text-wait">{casesText.noStagesHint}</p>}
      <TextField label={text.caseTitle} hint={casesText.visibleToClient} value={title} onChange={setTitle} />
      <Select
        label={text.wedge}
        value={wedge}
        options={withCases.map(({ wedge: slug, title: name }) => [slug, name])}
        onChange={setChosen}
      />
    </FormDialog>
  )
}
