import { useQuery } from '@tanstack/react-query'
import { type DragEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { type Case, casesQuery } from '../../api/case-queries.ts'
import { toCurl } from '../../api/http.ts'
import type { WedgeSummary } from '../../api/types.ts'
import { AnimatedList } from '../../ui/animated-list.tsx'
import { Button } from '../../ui/button.tsx'
import { humanize } from '../../ui/humanize.ts'
import { EmptyState } from '../../ui/page-states.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { CountBadge } from '../../ui/tabs.tsx'
import { CaseCard, DRAGGED_CASE, moveHandleId } from './case-card.tsx'
import { casesText } from './text.ts'
import { useChangeCase } from './use-change-case.ts'

export function CaseBoard({
  wedge,
  status,
  onNew,
}: {
  wedge: WedgeSummary
  status: 'open' | 'closed'
  onNew: () => void
}) {
  const query = useQuery(casesQuery(wedge.wedge, status))
  const stages = wedge.manifest.cases?.stages ?? []
  return (
    <QueryResult query={query}>
      {(cases) => (
        <>
          <Columns cases={cases} stages={stages} />
          {cases.length === 0 && status === 'open' && <NoOpenCases wedge={wedge.wedge} onNew={onNew} />}
          {cases.length === 0 && status === 'closed' && <EmptyState title={casesText.noClosed} />}
        </>
      )}
    </QueryResult>
  )
}

function Columns({ cases, stages }: { cases: Case[]; stages: string[] }) {
  const [announcement, setAnnouncement] = useState('')
  const lastMoved = useRef<string | null>(null)
  useEffect(() => {
    // A moved card is rendered again in another column, maybe several times, and the focus has to follow it.
    const isFocusLost = document.activeElement === null || document.activeElement === document.body
    if (lastMoved.current && isFocusLost) document.getElementById(lastMoved.current)?.focus()
  }, [cases])
  return (
    <>
      <div
        role="region"
        aria-label={casesText.board}
        tabIndex={0}
        className="grid auto-cols-[minmax(15rem,1fr)] grid-flow-col gap-3 overflow-x-auto pb-2"
      >
        {stages.map((stage) => (
          <StageColumn key={stage} stage={stage}>
            {cases
              .filter((found) => found.stage === stage)
              .toSorted(byArrival)
              .map((found) => ({
                key: found.id,
                row: (
                  <CaseCard
                    found={found}
                    stages={stages}
                    onMoved={(name, to) => {
                      lastMoved.current = moveHandleId(found.id)
                      setAnnouncement(casesText.movedTo(name, humanize(to)))
                    }}
                  />
                ),
              }))}
          </StageColumn>
        ))}
      </div>
      <p role="status" className="sr-only">
        {announcement}
      </p>
    </>
  )
}

/** A column of the board, into which cards can be dropped. */
function StageColumn({ stage, children }: { stage: string; children: { key: string; row: ReactNode }[] }) {
  const [isTarget, setIsTarget] = useState(false)
  const change = useChangeCase()
  const onDragOver = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes(DRAGGED_CASE)) return
    event.preventDefault()
    setIsTarget(true)
  }
  const onDragLeave = ({ currentTarget, relatedTarget }: DragEvent) => {
    if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setIsTarget(false)
  }
  const onDrop = (event: DragEvent) => {
    event.preventDefault()
    setIsTarget(false)
    const id = event.dataTransfer.getData(DRAGGED_CASE)
    if (id !== '' && !children.some(({ key }) => key === id)) change.mutate({ id, stage })
  }
  return (
    <section
      aria-label={humanize(stage)}
      onDragOver={onDragOver}
      onDragLeave={onDragLeave}
      onDrop={onDrop}
      className={`flex min-h-40 flex-col gap-2 rounded-md bg-sunken p-2 ${isTarget ? 'outline-2 outline-accent' : ''}`}
    >
      <h2 className="flex items-center gap-2 px-1 font-semibold">
        {humanize(stage)} <CountBadge value={children.length} />
      </h2>
      <AnimatedList gap={8} label={humanize(stage)}>
        {children}
      </AnimatedList>
    </section>
  )
}

function NoOpenCases({ wedge, onNew }: { wedge: string; onNew: () => void }) {
  const body = { wedge, title: casesText.exampleTitle }
  return (
    <EmptyState
      title={casesText.noOpen}
      action={<Button onClick={onNew}>{casesText.newCase}</Button>}
      curl={toCurl('createCase', { body })}
    >
      {casesText.noOpenHint}
    </EmptyState>
  )
}

/** The case that entered the stage first comes first, so that a new case joins at the end and moves no other. */
function byArrival(a: Case, b: Case): number {
  return arrivalKey(a) < arrivalKey(b) ? -1 : 1
}

const arrivalKey = ({ history, stage, id }: Case): string =>
  `${history.findLast(({ from, to }) => to === stage && from !== to)?.at ?? ''} ${id}`
