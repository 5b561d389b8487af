import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import type { KnowledgeItem, KnowledgeRevision } from '../../api/setup-queries.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { TextArea, Select, TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { showToast } from '../../ui/toast.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { Revisions } from './revisions.tsx'

const KINDS = ['note', 'fact', 'correction', 'feedback', 'answer', 'seed']

/** Text left, how it reads right; behind it the versions that were. */
export function KnowledgeEditor({
  wedge,
  item,
  onClose,
}: {
  wedge: string
  item: KnowledgeItem | null
  onClose: () => void
}) {
  const [draft, setDraft] = useState({
    name: item?.name ?? '',
    kind: item?.kind ?? 'note',
    content: item?.content ?? '',
  })
  const [view, setView] = useState<View>('text')
  const save = useApiMutation(
    () =>
      item
        ? callApi(`/v1/knowledge/${item.id}`, { method: 'PUT', body: draft })
        : callApi(`/v1/wedges/${wedge}/knowledge`, { method: 'POST', body: draft }),
    { invalidates: ['wedges'], onSuccess: () => (showToast('Saved; the next run will know'), onClose()) },
  )
  const bringBack = ({ name, kind, content }: KnowledgeRevision) => {
    setDraft({ name, kind, content })
    setView('text')
  }
  return (
    <FormDialog
      title={item ? 'Change knowledge' : 'Add knowledge'}
      submitLabel="Save"
      wide
      canSubmit={draft.name.trim() !== '' && draft.content !== ''}
      mutation={save}
      extraActions={item && <Delete item={item} onDone={onClose} />}
      onClose={onClose}
    >
      <div className="grid gap-4 sm:grid-cols-[1fr_10rem]">
        <TextField label="Name" value={draft.name} onChange={(to) => setDraft({ ...draft, name: to })} />
        <Select
          label="Kind"
          value={draft.kind}
          options={KINDS.map((one) => [one, one])}
          onChange={(kind) => setDraft({ ...draft, kind })}
        />
      </div>
      {item && item.version > 1 && <ViewTabs view={view} versions={item.version} onChange={setView} />}
      {item && view === 'versions' ? (
        <Revisions item={item} onBringBack={bringBack} />
      ) : (
        <Draft content={draft.content} onChange={(content) => setDraft({ ...draft, content })} />
      )}
    </FormDialog>
  )
}

function Delete({ item: { id, name }, onDone }: { item: KnowledgeItem; onDone: () => void }) {
  const remove = useApiMutation(() => callApi(`/v1/knowledge/${id}`, { method: 'DELETE' }), {
    invalidates: ['wedges'],
    onSuccess: () => (showToast('Deleted'), onDone()),
  })
  return (
    <MutationButton variant="danger" mutation={remove} confirmText={`Delete ${name} and its versions?`}>
      Delete
    </MutationButton>
  )
}

export type View = 'text' | 'versions'

export function ViewTabs({
  view,
  versions,
  onChange,
}: {
  view: View
  versions: number
  onChange: (view: View) => void
}) {
  const tabs = [
    { value: 'text' as const, label: 'Text' },
    { value: 'versions' as const, label: 'Versions', count: versions },
  ]
  return <Tabs label="Views of the item" value={view} onChange={onChange} tabs={tabs} />
}

function Draft({ content, onChange }: { content: string; onChange: (content: string) => void }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 sm:grid-cols-2">
      <TextArea label="Text" hint="Markdown" rows={14} mono value={content} onChange={onChange} />
      <div
        role="region"
        aria-label="Preview"
        tabIndex={0}
        className="max-h-80 overflow-y-auto rounded-md bg-sunken p-3"
      >
        {content ? <Markdown text={content} /> : <p className="text-muted">How it reads.</p>}
      </div>
    </div>
  )
}
