import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { errorMessage } from '../../api/http.ts'
import { type KnowledgeItem, type KnowledgeRevision, revisionsQuery } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { ShowMore } from '../../ui/show-more.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { lineDiff } from './line-diff.ts'

/** Brings a version back; null for who only reads. */
type BringBack = ((revision: KnowledgeRevision) => void) | null

/** Every version, who wrote it, and how it differs from what is there now. */
export function Revisions({ item, onBringBack }: { item: KnowledgeItem; onBringBack: BringBack }) {
  const query = useInfiniteQuery(revisionsQuery(item.id))
  const revisions = query.data
  const [version, setVersion] = useState<number | null>(null)
  if (query.error) return <ErrorMessage message={errorMessage(query.error)} />
  if (!revisions) return <Placeholder className="h-80" />
  const chosen = revisions.find((one) => one.version === version) ?? revisions[1] ?? revisions[0]
  return (
    <div className="grid h-96 grid-cols-[minmax(0,1fr)] gap-4 max-sm:h-auto sm:grid-cols-[14rem_minmax(0,1fr)]">
      <div className="flex min-h-0 flex-col gap-2 overflow-y-auto max-sm:max-h-40">
        <ul aria-label="Versions" className="divide-y divide-line rounded-md border border-line">
          {revisions.map((revision) => (
            <li key={revision.version}>
              <VersionButton
                revision={revision}
                chosen={revision === chosen}
                onChoose={() => setVersion(revision.version)}
              />
            </li>
          ))}
        </ul>
        <ShowMore query={query} />
      </div>
      {chosen && <Compared item={item} revision={chosen} onBringBack={onBringBack} />}
    </div>
  )
}

function VersionButton({
  revision: { version, by, at },
  chosen,
  onChoose,
}: {
  revision: KnowledgeRevision
  chosen: boolean
  onChoose: () => void
}) {
  return (
    <button
      type="button"
      aria-pressed={chosen}
      onClick={onChoose}
      className="flex w-full flex-col px-3 py-2 text-left -outline-offset-2 hover:bg-hover aria-pressed:bg-accent-soft"
    >
      <span className="font-medium">Version {version}</span>
      <span className="truncate text-xs text-muted">
        {by.kind} · <TimeAgo ts={at} />
      </span>
    </button>
  )
}

const LOOKS = { same: '', gone: 'bg-bad-soft text-bad', added: 'bg-ok-soft text-ok' }
const SIGNS = { same: ' ', gone: '−', added: '+' }

function Compared({
  item,
  revision,
  onBringBack,
}: {
  item: KnowledgeItem
  revision: KnowledgeRevision
  onBringBack: BringBack
}) {
  const now = revision.version === item.version
  return (
    <div className="flex min-h-0 flex-col gap-2">
      <div className="flex min-h-7 items-center gap-2">
        <p className="text-muted">{now ? 'This is what runs know now.' : `From version ${revision.version} to now`}</p>
        {!now && onBringBack && (
          <Button small className="ml-auto" onClick={() => onBringBack(revision)}>
            Bring version {revision.version} back
          </Button>
        )}
      </div>
      <pre
        tabIndex={0}
        role="region"
        aria-label="Difference"
        className="grow overflow-auto rounded-md bg-sunken p-3 font-mono text-xs break-words whitespace-pre-wrap"
      >
        {lineDiff(revision.content, item.content).map(({ kind, text }, i) => (
          <span key={i} className={`block ${LOOKS[kind]}`}>
            <span aria-hidden className="select-none">
              {SIGNS[kind]}{' '}
            </span>
            {kind === 'gone' ? (
              <del className="no-underline">{text}</del>
            ) : kind === 'added' ? (
              <ins className="no-underline">{text}</ins>
            ) : (
              text
            )}
          </span>
        ))}
      </pre>
    </div>
  )
}
