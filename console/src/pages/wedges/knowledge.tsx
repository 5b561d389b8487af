import { Plus } from 'lucide-react'
import { useState } from 'react'
import { toCurl } from '../../api/http.ts'
import type { KnowledgeItem, WedgeDetail } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/page-states.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Tag } from '../../ui/status.tsx'
import { Section } from '../../ui/page.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { KnowledgeEditor } from './knowledge-editor.tsx'
import { KnowledgeReader } from './knowledge-reader.tsx'
import { Texts } from './texts.tsx'

/** What grounds a run: what the wedge brought, and what was learned since. */
export function KnowledgeView({ wedge, knowledge }: { wedge: string; knowledge: WedgeDetail['knowledge'] }) {
  const [open, setOpen] = useState<KnowledgeItem | 'new' | null>(null)
  const close = () => setOpen(null)
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-6 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <Section
        title="Learned"
        actions={
          <RequireRole minRole="operator">
            <Button small variant="primary" icon={<Plus size={14} />} onClick={() => setOpen('new')}>
              Add knowledge
            </Button>
          </RequireRole>
        }
      >
        {knowledge.live.length === 0 ? (
          <NothingLearned wedge={wedge} />
        ) : (
          <ul aria-label="Live knowledge" className="panel divide-y divide-line">
            {knowledge.live.map((item) => (
              <li key={item.id}>
                <button
                  type="button"
                  onClick={() => setOpen(item)}
                  className="flex w-full items-center gap-2 px-4 py-2.5 text-left hover:bg-hover"
                >
                  <span className="truncate font-medium">{item.name}</span>
                  <Tag>{item.kind}</Tag>
                  <span className="ml-auto text-xs whitespace-nowrap text-muted">
                    version {item.version} · <TimeAgo ts={item.updated_at} />
                  </span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section title="Brought by the wedge">
        <Texts texts={knowledge.authored} none="Nothing." />
      </Section>
      {open && (
        <RequireRole minRole="operator" fallback={open !== 'new' && <KnowledgeReader item={open} onClose={close} />}>
          <KnowledgeEditor wedge={wedge} item={open === 'new' ? null : open} onClose={close} />
        </RequireRole>
      )}
    </div>
  )
}

function NothingLearned({ wedge }: { wedge: string }) {
  const body = { name: 'opening-hours', content: 'We answer from 9 to 17, Monday to Friday.' }
  return (
    <EmptyState title="Nothing learned yet" curl={toCurl(`/v1/wedges/${wedge}/knowledge`, { method: 'POST', body })}>
      Answers, corrections and feedback land here, and ground the very next run.
    </EmptyState>
  )
}
