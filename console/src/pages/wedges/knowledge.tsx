import { Plus } from 'lucide-react'
import { useState } from 'react'
import { asCurl } from '../../api/http.ts'
import type { KnowledgeItem, WedgeDetail } from '../../api/setup.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { May } from '../../ui/may.tsx'
import { Tag } from '../../ui/status.tsx'
import { Section } from '../../ui/table.tsx'
import { Ago } from '../../ui/time.tsx'
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
          <May least="operator">
            <Button small look="primary" icon={<Plus size={14} />} onClick={() => setOpen('new')}>
              Add knowledge
            </Button>
          </May>
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
                    version {item.version} · <Ago ts={item.updated_at} />
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
        <May least="operator" otherwise={open !== 'new' && <KnowledgeReader item={open} onClose={close} />}>
          <KnowledgeEditor wedge={wedge} item={open === 'new' ? null : open} onClose={close} />
        </May>
      )}
    </div>
  )
}

function NothingLearned({ wedge }: { wedge: string }) {
  const body = { name: 'opening-hours', content: 'We answer from 9 to 17, Monday to Friday.' }
  return (
    <Empty title="Nothing learned yet" curl={asCurl(`/v1/wedges/${wedge}/knowledge`, { method: 'POST', body })}>
      Answers, corrections and feedback land here, and ground the very next run.
    </Empty>
  )
}
