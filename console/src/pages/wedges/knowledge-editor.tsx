import { useState } from 'react'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import type { KnowledgeItem, KnowledgeRevision } from '../../api/setup-queries.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Select, TextArea, TextField } from '../../ui/form-fields.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { showToast } from '../../ui/toast.tsx'
import { RevisionHistory } from './revision-history.tsx'
import { wedgesText } from './text.ts'

const KINDS = ['note', 'fact', 'correction', 'feedback', 'answer', 'seed'] as const

/** Edits an item with a preview beside the text, and restores earlier versions. */
export function KnowledgeEditor({
  wedge,
  item,
  onClose,
}: {
  wedge: string
  item: KnowledgeItem | null
  onClose: () => void
}) {
  const [draft, setDraft] = useState<Pick<KnowledgeItem, 'name' | 'kind' | 'content'>>({
    name: item?.name ?? '',
    kind: item?.kind ?? 'note',
    content: item?.content ?? '',
  })
  const [view, setView] = useState<ItemView>('text')
  const save = useApiMutation(
    () =>
      item
        ? callOperation('updateKnowledge', { id: item.id, body: draft })
        : callOperation('createKnowledge', { wedge, body: draft }),
    { invalidates: ['wedges'], onSuccess: () => (showToast(wedgesText.saved), onClose()) },
  )
  const restore = ({ name, kind, content }: KnowledgeRevision) => {
    setDraft({ name, kind, content })
    setView('text')
  }
  return (
    <FormDialog
      title={item ? wedgesText.editKnowledge : wedgesText.addKnowledge}
      submitLabel={wedgesText.save}
      wide
      canSubmit={draft.name.trim() !== '' && draft.content !== ''}
      mutation={save}
      extraActions={item && <DeleteButton item={item} onDeleted={onClose} />}
      onClose={onClose}
    >
      <div className="grid gap-4 sm:grid-cols-[1fr_10rem]">
        <TextField label={wedgesText.name} value={draft.name} onChange={(to) => setDraft({ ...draft, name: to })} />
        <Select
          label={wedgesText.kind}
          value={draft.kind}
          options={KINDS.map((kind) => [kind, wedgesText.knowledgeKind(kind)])}
          onChange={(kind) => setDraft({ ...draft, kind })}
        />
      </div>
      {item && item.version > 1 && <ItemViewTabs view={view} versions={item.version} onChange={setView} />}
      {item && view === 'versions' ? (
        <RevisionHistory item={item} onRestore={restore} />
      ) : (
        <TextWithPreview content={draft.content} onChange={(content) => setDraft({ ...draft, content })} />
      )}
    </FormDialog>
  )
}

function DeleteButton({ item: { id, name }, onDeleted }: { item: KnowledgeItem; onDeleted: () => void }) {
  const remove = useApiMutation(() => callOperation('deleteKnowledge', { id }), {
    invalidates: ['wedges'],
    onSuccess: () => (showToast(wedgesText.deleted), onDeleted()),
  })
  return (
    <MutationButton variant="danger" mutation={remove} confirmText={wedgesText.confirmDelete(name)}>
      {wedgesText.delete}
    </MutationButton>
  )
}

export type ItemView = 'text' | 'versions'

export function ItemViewTabs({
  view,
  versions,
  onChange,
}: {
  view: ItemView
  versions: number
  onChange: (view: ItemView) => void
}) {
  const tabs = [
    { value: 'text' as const, label: wedgesText.text },
    { value: 'versions' as const, label: wedgesText.versions, count: versions },
  ]
  return <Tabs label={wedgesText.itemViews} value={view} onChange={onChange} tabs={tabs} />
}

function TextWithPreview({ content, onChange }: { content: string; onChange: (content: string) => void }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 sm:grid-cols-2">
      <TextArea label={wedgesText.text} hint={wedgesText.textHint} rows={14} mono value={content} onChange={onChange} />
      <div
        role="region"
        aria-label={wedgesText.preview}
        tabIndex={0}
        className="max-h-80 overflow-y-auto rounded-md bg-sunken p-3"
      >
        {content ? <Markdown text={content} /> : <p className="text-muted">{wedgesText.previewHint}</p>}
      </div>
    </div>
  )
}
