import { useState } from 'react'
import { SquarePen } from 'lucide-react'
import type { Case, CaseHistoryEntry } from '../../api/case-queries.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/form-fields.tsx'
import { capitalize, humanize } from '../../ui/humanize.ts'
import { Section } from '../../ui/page.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { withoutSent } from '../../ui/unsent-text.ts'
import { casesText } from './text.ts'
import { useChangeCase } from './use-change-case.ts'

/** What happened to a case, oldest first, and a field for a new note below it. */
export function CaseHistory({ found }: { found: Case }) {
  return (
    <Section title={casesText.history}>
      <div className="panel flex flex-col gap-4 p-4">
        <ol aria-label={casesText.history} className="flex flex-col gap-3">
          {found.history.map((entry, i) => (
            <HistoryEntry key={i} entry={entry} />
          ))}
        </ol>
        <RequireRole minRole="operator">
          <NoteForm key={found.id} caseId={found.id} />
        </RequireRole>
      </div>
    </Section>
  )
}

function HistoryEntry({ entry }: { entry: CaseHistoryEntry }) {
  const { from, to, at, note } = entry
  const isMove = from === null || from !== to
  return (
    <li className="flex flex-col gap-1 border-l-2 border-line pl-3">
      {isMove && <p className="font-medium">{describeMove(from, to)}</p>}
      {note && <p className="break-words whitespace-pre-wrap">{isMove ? note : capitalize(note)}</p>}
      <p className="text-xs text-muted">
        {casesText.byName(actorName(entry))}, <TimeAgo ts={at} />
      </p>
    </li>
  )
}

const describeMove = (from: string | null, to: string): string =>
  from === null ? casesText.opened(humanize(to)) : casesText.moved(humanize(from), humanize(to))

function actorName({ by: { kind, name } }: CaseHistoryEntry): string {
  const kinds: Record<string, string> = casesText.by
  return name ?? kinds[kind] ?? kind
}

function NoteForm({ caseId }: { caseId: string }) {
  const [note, setNote] = useState('')
  const change = useChangeCase()
  const add = () => {
    const sent = note.trim()
    change.mutate({ id: caseId, note: sent }, { onSuccess: () => setNote((typed) => withoutSent(typed, sent)) })
  }
  return (
    <form className="flex flex-col items-start gap-2 *:w-full" onSubmit={(event) => (event.preventDefault(), add())}>
      <TextArea label={casesText.note} hint={casesText.noteHint} value={note} onChange={setNote} rows={2} />
      <div>
        <Button
          type="submit"
          disabled={change.isPending || note.trim() === ''}
          icon={<SquarePen size={14} aria-hidden />}
        >
          {casesText.addNote}
        </Button>
      </div>
    </form>
  )
}
