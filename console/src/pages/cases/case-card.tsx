import { Link } from '@tanstack/react-router'
import { GripVertical } from 'lucide-react'
import type { DragEvent, KeyboardEvent } from 'react'
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
  const startDrag = ({ dataTransfer }: DragEvent) => {
    dataTransfer.setData(DRAGGED_CASE, id)
    dataTransfer.effectAllowed = 'move'
  }
  return (
    <article
      aria-label={name}
      draggable={canMove}
      onDragStart={startDrag}
      className={`panel flex flex-col gap-2 p-3 ${canMove ? 'cursor-grab active:cursor-grabbing' : ''}`}
    >
      <div className="flex items-start gap-1">
        <RequireRole minRole="operator">
          <MoveHandle id={id} name={name} onStep={(by) => move(stages[stages.indexOf(stage) + by])} />
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
        <StageList name={name} stage={stage} stages={stages} disabled={change.isPending} onChange={move} />
      </RequireRole>
    </article>
  )
}

/** The arrow keys move the card to the stage before or after its own. */
function MoveHandle({ id, name, onStep }: { id: string; name: string; onStep: (by: 1 | -1) => void }) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowRight' && event.key !== 'ArrowLeft') return
    event.preventDefault()
    onStep(event.key === 'ArrowRight' ? 1 : -1)
  }
  return (
    <button
      type="button"
      id={moveHandleId(id)}
      aria-label={casesText.moveCase(name)}
      title={casesText.moveHint}
      onKeyDown={onKeyDown}
      className="-ml-1.5 cursor-grab rounded text-muted"
    >
      <GripVertical size={16} aria-hidden />
    </button>
  )
}

export const moveHandleId = (caseId: string) => `move-${caseId}`

function StageList({
  name,
  stage,
  stages,
  disabled,
  onChange,
}: {
  name: string
  stage: string
  stages: string[]
  disabled: boolean
  onChange: (stage: string) => void
}) {
  return (
    <select
      aria-label={casesText.stageOf(name)}
      className="field h-7 py-0 text-xs"
      value={stage}
      disabled={disabled}
      onChange={(event) => onChange(event.target.value)}
    >
      {stages.map((option) => (
        <option key={option} value={option}>
          {humanize(option)}
        </option>
      ))}
    </select>
  )
}
