import { Link } from '@tanstack/react-router'
import { GripVertical } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import type { Case } from '../../api/case-queries.ts'
import { humanize } from '../../ui/humanize.ts'
import { RequireRole, useHasRole } from '../../ui/role.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { caseName } from './case-name.ts'
import { casesText } from './text.ts'
import { useChangeCase } from './use-change-case.ts'

/** The type of the data that a dragged card carries. */
export const DRAGGED_CASE = 'application/x-case'

/** A case on the board. It is moved by dragging, with the arrow keys of its handle, or with the list of stages. */
export function CaseCard({
  found,
  stages,
  onMoved,
}: {
  found: Case
  stages: string[]
  /** Called after a move with the keyboard, because the card is then in another column. */
  onMoved: (name: string, stage: string) => void
}) {
  const { id, stage, task_ids, assignee, updated_at } = found
  const name = caseName(found)
  const change = useChangeCase()
  const canMove = useHasRole()('operator')
  const move = (to: string | undefined) => {
    if (to === undefined || to === stage) return
    change.mutate({ id, stage: to })
    onMoved(name, to)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    move(stages[stages.indexOf(stage) + step])
  }
  return (
    <article
      aria-label={name}
      draggable={canMove}
      onDragStart={(event) => {
        event.dataTransfer.setData(DRAGGED_CASE, id)
        event.dataTransfer.effectAllowed = 'move'
      }}
      className={`panel flex flex-col gap-2 p-3 ${canMove ? 'cursor-grab active:cursor-grabbing' : ''}`}
    >
      <div className="flex items-start gap-1">
        <RequireRole minRole="operator">
          <button
            type="button"
            id={`move-${id}`}
            aria-label={casesText.moveCase(name)}
            title={casesText.moveHint}
            onKeyDown={onKeyDown}
            className="-ml-1.5 cursor-grab rounded text-muted"
          >
            <GripVertical size={16} aria-hidden />
          </button>
        </RequireRole>
        <h3 className="min-w-0 font-medium break-words">
          <Link to="/cases/$caseId" params={{ caseId: id }} className="hover:underline" draggable={false}>
            {name}
          </Link>
        </h3>
      </div>
      <p className="flex flex-wrap gap-x-3 text-xs text-muted">
        <span>{casesText.tasks(task_ids.length)}</span>
        {assignee && <span className="truncate">{assignee.name}</span>}
        <span className="ml-auto">
          <TimeAgo ts={updated_at} />
        </span>
      </p>
      <RequireRole minRole="operator">
        <select
          aria-label={casesText.stageOf(name)}
          className="field h-7 py-0 text-xs"
          value={stage}
          disabled={change.isPending}
          onChange={(event) => move(event.target.value)}
        >
          {stages.map((option) => (
            <option key={option} value={option}>
              {humanize(option)}
            </option>
          ))}
        </select>
      </RequireRole>
    </article>
  )
}
