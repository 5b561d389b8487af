import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { type Case, casesQuery } from '../../api/client-queries.ts'
import { toCurl } from '../../api/http.ts'
import { wedgesQuery } from '../../api/queries.ts'
import type { WedgeSummary } from '../../api/types.ts'
import { AnimatedList } from '../../ui/animated-list.tsx'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/form-fields.tsx'
import { humanize } from '../../ui/humanize.ts'
import { EmptyState, Placeholder } from '../../ui/page-states.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { CountBadge, Tabs } from '../../ui/tabs.tsx'
import { CaseCard } from './case-card.tsx'
import { CaseForm } from './case-form.tsx'
import { casesText } from './text.ts'

const route = getRouteApi('/shell/cases')

/** The cases of a wedge on a board, with one column per stage. */
export function CasesPage() {
  const { wedge: chosen, closed = '' } = route.useSearch()
  const navigate = route.useNavigate()
  const [open, setOpen] = useState(false)
  const { data: wedges } = useQuery(wedgesQuery)
  const wedgesWithCases = wedges?.filter(({ manifest }) => manifest.cases) ?? []
  const wedge = wedgesWithCases.find((candidate) => candidate.wedge === chosen) ?? wedgesWithCases[0]
  return (
    <Page
      title={casesText.title}
      lead={casesText.lead}
      actions={
        <>
          <Checkbox
            label={casesText.closedCases}
            checked={closed === '1'}
            onChange={(to) =>
              void navigate({ search: { ...(chosen && { wedge: chosen }), ...(to && { closed: '1' }) } })
            }
          />
          <RequireRole minRole="operator">
            <Button variant="primary" icon={<Plus size={14} />} disabled={!wedge} onClick={() => setOpen(true)}>
              {casesText.newCase}
            </Button>
          </RequireRole>
        </>
      }
    >
      {!wedges && <Placeholder className="h-96" />}
      {wedges && !wedge && <EmptyState title={casesText.noStages}>{casesText.noStagesHint}</EmptyState>}
      {wedge && (
        <>
          <Tabs
            label={casesText.casesByWedge}
            value={wedge.wedge}
            tabs={wedgesWithCases.map(({ wedge, title }) => ({ value: wedge, label: title }))}
            onChange={(to) => void navigate({ search: { wedge: to, ...(closed && { closed }) } })}
          />
          <CaseBoard
            key={wedge.wedge}
            wedge={wedge}
            status={closed === '1' ? 'closed' : 'open'}
            onNew={() => setOpen(true)}
          />
          {open && <CaseForm wedge={wedge} onClose={() => setOpen(false)} />}
        </>
      )}
    </Page>
  )
}

function CaseBoard({ wedge, status, onNew }: { wedge: WedgeSummary; status: 'open' | 'closed'; onNew: () => void }) {
  const query = useQuery(casesQuery(wedge.wedge, status))
  const stages = wedge.manifest.cases?.stages ?? []
  return (
    <QueryResult query={query}>
      {(cases) => (
        <>
          <div
            role="region"
            aria-label={casesText.board}
            tabIndex={0}
            className="grid auto-cols-[minmax(15rem,1fr)] grid-flow-col gap-3 overflow-x-auto pb-2"
          >
            {stages.map((stage) => {
              const inStage = cases.filter((found) => found.stage === stage).toSorted(byArrival)
              return (
                <section key={stage} className="flex flex-col gap-2 rounded-md bg-sunken p-2">
                  <h2 className="flex items-center gap-2 px-1 font-semibold">
                    {humanize(stage)} <CountBadge value={inStage.length} />
                  </h2>
                  <AnimatedList gap={8} label={humanize(stage)}>
                    {inStage.map((found) => ({ key: found.id, row: <CaseCard found={found} stages={stages} /> }))}
                  </AnimatedList>
                </section>
              )
            })}
          </div>
          {cases.length === 0 && status === 'open' && <NoOpenCases wedge={wedge.wedge} onNew={onNew} />}
          {cases.length === 0 && status === 'closed' && <EmptyState title={casesText.noClosed} />}
        </>
      )}
    </QueryResult>
  )
}

function NoOpenCases({ wedge, onNew }: { wedge: string; onNew: () => void }) {
  const body = { wedge, title: casesText.exampleTitle }
  return (
    <EmptyState
      title={casesText.noOpen}
      action={<Button onClick={onNew}>{casesText.newCase}</Button>}
      curl={toCurl('/v1/cases', { method: 'POST', body })}
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
