import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { errorMessage } from '../../api/http.ts'
import { type KnowledgeItem, type KnowledgeRevision, revisionsQuery } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { ShowMore } from '../../ui/show-more.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { lineDiff } from './line-diff.ts'
import { wedgesText } from './text.ts'

/** Null for viewers, who cannot restore a version. */
type OnRestore = ((revision: KnowledgeRevision) => void) | null

/** Every version, its author, and its difference from the current version. */
export function RevisionHistory({ item, onRestore }: { item: KnowledgeItem; onRestore: OnRestore }) {
  const query = useInfiniteQuery(revisionsQuery(item.id))
  const revisions = query.data
  const [version, setVersion] = useState<number | null>(null)
  if (query.error) return <ErrorMessage message={errorMessage(query.error)} />
  if (!revisions) return <Placeholder className="h-80" />
  const chosen = revisions.find((revision) => revision.version === version) ?? revisions[1] ?? revisions[0]
  return (
    <div className="grid h-96 grid-cols-[minmax(0,1fr)] gap-4 max-sm:h-auto sm:grid-cols-[14rem_minmax(0,1fr)]">
      <div className="flex min-h-0 flex-col gap-2 overflow-y-auto max-sm:max-h-40">
        <ul aria-label={wedgesText.versions} className="divide-y divide-line rounded-md border border-line">
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
      {chosen && <RevisionDiff item={item} revision={chosen} onRestore={onRestore} />}
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
      <span className="font-medium">{wedgesText.version(version)}</span>
      <span className="truncate text-xs text-muted">
        {by.kind} · <TimeAgo ts={at} />
      </span>
    </button>
  )
}

const LINE_CLASSES = { same: '', removed: 'bg-bad-soft text-bad', added: 'bg-ok-soft text-ok' }
const SIGNS = { same: ' ', removed: '−', added: '+' }

function RevisionDiff({
  item,
  revision,
  onRestore,
}: {
  item: KnowledgeItem
  revision: KnowledgeRevision
  onRestore: OnRestore
}) {
  const isCurrent = revision.version === item.version
  return (
    <div className="flex min-h-0 flex-col gap-2">
      <div className="flex min-h-7 items-center gap-2">
        <p className="text-muted">
          {isCurrent ? wedgesText.currentVersion : wedgesText.changesSince(revision.version)}
        </p>
        {!isCurrent && onRestore && (
          <Button small className="ml-auto" onClick={() => onRestore(revision)}>
            {wedgesText.restore(revision.version)}
          </Button>
        )}
      </div>
      <pre
        tabIndex={0}
        role="region"
        aria-label={wedgesText.changes}
        className="grow overflow-auto rounded-md bg-sunken p-3 font-mono text-xs break-words whitespace-pre-wrap"
      >
        {lineDiff(revision.content, item.content).map(({ kind, text }, i) => (
          <span key={i} className={`block ${LINE_CLASSES[kind]}`}>
            <span aria-hidden className="select-none">
              {SIGNS[kind]}{' '}
            </span>
            {kind === 'removed' ? (
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
