import { useState } from 'react'
import type { KnowledgeItem } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { Tag } from '../../ui/status.tsx'
import { type ItemView, ItemViewTabs } from './knowledge-editor.tsx'
import { RevisionHistory } from './revision-history.tsx'
import { wedgesText } from './text.ts'

/** Shows an item and its earlier versions to viewers. */
export function KnowledgeReader({ item, onClose }: { item: KnowledgeItem; onClose: () => void }) {
  const [view, setView] = useState<ItemView>('text')
  return (
    <Dialog label={item.name} onClose={onClose} className="max-w-4xl">
      <div className="flex flex-col gap-4 p-5">
        <h2 className="flex items-center gap-2 text-base font-semibold">
          {item.name} <Tag>{wedgesText.knowledgeKind(item.kind)}</Tag>
        </h2>
        {item.version > 1 && <ItemViewTabs view={view} versions={item.version} onChange={setView} />}
        {view === 'versions' ? <RevisionHistory item={item} onRestore={null} /> : <Markdown text={item.content} />}
        <Button className="self-start" onClick={onClose}>
          {wedgesText.close}
        </Button>
      </div>
    </Dialog>
  )
}
