import { useState } from 'react'
import type { KnowledgeItem } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { Tag } from '../../ui/status.tsx'
import { type View, ViewTabs } from './knowledge-editor.tsx'
import { Revisions } from './revisions.tsx'

/** An item and the versions that were, for who may read it only. */
export function KnowledgeReader({ item, onClose }: { item: KnowledgeItem; onClose: () => void }) {
  const [view, setView] = useState<View>('text')
  return (
    <Dialog label={item.name} onClose={onClose} className="max-w-4xl">
      <div className="flex flex-col gap-4 p-5">
        <h2 className="flex items-center gap-2 text-base font-semibold">
          {item.name} <Tag>{item.kind}</Tag>
        </h2>
        {item.version > 1 && <ViewTabs view={view} versions={item.version} onChange={setView} />}
        {view === 'versions' ? <Revisions item={item} onBringBack={null} /> : <Markdown text={item.content} />}
        <Button className="self-start" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  )
}
