import { useState } from 'react'
import { call } from '../../api/http.ts'
import type { KnowledgeItem } from '../../api/setup.ts'
import { useWrite } from '../../api/write.ts'
import { Button } from '../../ui/button.tsx'
import { Area, Choice, Text } from '../../ui/form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Prose } from '../../ui/prose.tsx'
import { toast } from '../../ui/toast.tsx'

const KINDS = ['note', 'fact', 'correction', 'feedback', 'answer', 'seed']

/** Text left, how it reads right. Earlier versions stay readable through the API. */
export function KnowledgeEditor({
  wedge,
  item,
  onClose,
}: {
  wedge: string
  item: KnowledgeItem | null
  onClose: () => void
}) {
  const [name, setName] = useState(item?.name ?? '')
  const [kind, setKind] = useState(item?.kind ?? 'note')
  const [content, setContent] = useState(item?.content ?? '')
  const body = { name, kind, content }
  const done = (said: string) => () => (toast(said), onClose())
  const save = useWrite(
    () =>
      item
        ? call(`/v1/knowledge/${item.id}`, { method: 'PUT', body })
        : call(`/v1/wedges/${wedge}/knowledge`, { method: 'POST', body }),
    { stale: ['wedges'], onDone: done('Saved; the next run will know') },
  )
  const remove = useWrite(() => call(`/v1/knowledge/${item?.id}`, { method: 'DELETE' }), {
    stale: ['wedges'],
    onDone: done('Deleted'),
  })
  return (
    <FormDialog
      title={item ? 'Change knowledge' : 'Add knowledge'}
      submit="Save"
      wide
      ready={name.trim() !== '' && content !== ''}
      busy={save.isPending}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <div className="grid gap-4 sm:grid-cols-[1fr_10rem]">
        <Text label="Name" value={name} onChange={(event) => setName(event.target.value)} />
        <Choice label="Kind" value={kind} options={KINDS.map((one) => [one, one])} onChange={setKind} />
      </div>
      <Draft content={content} onChange={setContent} />
      {item && (
        <Button
          small
          look="danger"
          className="self-start"
          disabled={remove.isPending}
          onClick={() => confirm(`Delete ${item.name} and its versions?`) && remove.mutate()}
        >
          Delete
        </Button>
      )}
    </FormDialog>
  )
}

function Draft({ content, onChange }: { content: string; onChange: (content: string) => void }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 sm:grid-cols-2">
      <Area label="Text" hint="Markdown" rows={14} mono value={content} onChange={onChange} />
      <div
        role="region"
        aria-label="Preview"
        tabIndex={0}
        className="max-h-80 overflow-y-auto rounded-md bg-sunken p-3"
      >
        {content ? <Prose text={content} /> : <p className="text-muted">How it reads.</p>}
      </div>
    </div>
  )
}
