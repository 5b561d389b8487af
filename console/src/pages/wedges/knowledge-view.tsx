import { Plus } from 'lucide-react'
import { useState } from 'react'
import { toCurl } from '../../api/http.ts'
import type { KnowledgeItem, WedgeDetail } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/page-states.tsx'
import { Section } from '../../ui/page.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Tag } from '../../ui/status.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { DocumentList } from './document-list.tsx'
import { KnowledgeEditor } from './knowledge-editor.tsx'
import { KnowledgeReader } from './knowledge-reader.tsx'
import { wedgesText } from './text.ts'

/** The knowledge that every run gets: documents of the wedge's folder, and items learned since. */
export function KnowledgeView({ wedge, knowledge }: { wedge: string; knowledge: WedgeDetail['knowledge'] }) {
  const [open, setOpen] = useState<KnowledgeItem | 'new' | null>(null)
  const close = () => setOpen(null)
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-6 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <Section
        title={wedgesText.learned}
        actions={
          <RequireRole minRole="operator">
            <Button small variant="primary" icon={<Plus size={14} />} onClick={() => setOpen('new')}>
              {wedgesText.addKnowledge}
            </Button>
          </RequireRole>
        }
      >
        {knowledge.live.length === 0 ? (
          <NothingLearned wedge={wedge} onAdd={() => setOpen('new')} />
        ) : (
          <ul aria-label={wedgesText.liveKnowledge} className="panel divide-y divide-line">
            {knowledge.live.map((item) => (
              <li key={item.id}>
                <button
                  type="button"
                  onClick={() => setOpen(item)}
                  className="flex w-full items-center gap-2 px-4 py-2.5 text-left hover:bg-hover"
                >
                  <span className="truncate font-medium">{item.name}</span>
                  <Tag>{wedgesText.knowledgeKind(item.kind)}</Tag>
                  <span className="ml-auto text-xs whitespace-nowrap text-muted">
                    {wedgesText.version(item.version)} · <TimeAgo ts={item.updated_at} />
                  </span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section title={wedgesText.authored}>
        <DocumentList documents={knowledge.authored} none={wedgesText.noAuthored} />
      </Section>
      {open && (
        <RequireRole minRole="operator" fallback={open !== 'new' && <KnowledgeReader item={open} onClose={close} />}>
          <KnowledgeEditor wedge={wedge} item={open === 'new' ? null : open} onClose={close} />
        </RequireRole>
      )}
    </div>
  )
}

function NothingLearned({ wedge, onAdd }: { wedge: string; onAdd: () => void }) {
  const body = { name: 'opening-hours', content: wedgesText.exampleKnowledge }
  return (
    <EmptyState
      title={wedgesText.nothingLearned}
      action={<Button onClick={onAdd}>{wedgesText.addKnowledge}</Button>}
      curl={toCurl('createKnowledge', { wedge, body })}
    >
      {wedgesText.nothingLearnedHint}
    </EmptyState>
  )
}
