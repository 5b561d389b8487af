import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { type Case, casesQuery } from '../../api/client-queries.ts'
import { toCurl } from '../../api/http.ts'
import { wedgesQuery } from '../../api/queries.ts'
import type { WedgeSummary } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState, Placeholder } from '../../ui/page-states.tsx'
import { Checkbox } from '../../ui/form-fields.tsx'
import { humanize } from '../../ui/humanize.ts'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Page } from '../../ui/page.tsx'
import { AnimatedList } from '../../ui/animated-list.tsx'
import { CountBadge, Tabs } from '../../ui/tabs.tsx'
import { CaseCard } from './card.tsx'
import { CaseForm } from './form.tsx'

const route = getRouteApi('/shell/cases')

/** Cases by stage, as the wedge names them. */
export function Board() {
  const { wedge: chosen, closed = '' } = route.useSearch()
  const navigate = route.useNavigate()
  const [open, setOpen] = useState(false)
  const { data: wedges } = useQuery(wedgesQuery)
  const staged = wedges?.filter(({ manifest }) => manifest.cases) ?? []
  const wedge = staged.find((one) => one.wedge === chosen) ?? staged[0]
  return (
    <Page
      title="Cases"
      lead="What takes longer than one task, by stage."
      actions={
        <>
          <Checkbox
            label="Closed"
            checked={closed === '1'}
            onChange={(to) =>
              void navigate({ search: { ...(chosen && { wedge: chosen }), ...(to && { closed: '1' }) } })
            }
          />
          <RequireRole minRole="operator">
            <Button variant="primary" icon={<Plus size={14} />} disabled={!wedge} onClick={() => setOpen(true)}>
              New case
            </Button>
          </RequireRole>
        </>
      }
    >
      {!wedges && <Placeholder className="h-96" />}
      {wedges && !wedge && (
        <EmptyState title="No wedge has cases">
          A wedge that works in cases names their stages in its wedge.json.
        </EmptyState>
      )}
      {wedge && (
        <>
          <Tabs
            label="Cases by wedge"
            value={wedge.wedge}
            tabs={staged.map(({ wedge, title }) => ({ value: wedge, label: title }))}
            onChange={(to) => void navigate({ search: { wedge: to, ...(closed && { closed }) } })}
          />
          <Stages key={wedge.wedge} wedge={wedge} status={closed === '1' ? 'closed' : 'open'} />
          {open && <CaseForm wedge={wedge} onClose={() => setOpen(false)} />}
        </>
      )}
    </Page>
  )
}

function Stages({ wedge, status }: { wedge: WedgeSummary; status: 'open' | 'closed' }) {
  const query = useQuery(casesQuery(wedge.wedge, status))
  const stages = wedge.manifest.cases?.stages ?? []
  const body = { wedge: wedge.wedge, title: 'The case of Ada' }
  return (
    <QueryResult query={query}>
      {(cases) => (
        <>
          <div
            role="region"
            aria-label="Board"
            tabIndex={0}
            className="grid auto-cols-[minmax(15rem,1fr)] grid-flow-col gap-3 overflow-x-auto pb-2"
          >
            {stages.map((stage) => {
              const here = cases.filter((one) => one.stage === stage).toSorted(byArrival)
              return (
                <section key={stage} className="flex flex-col gap-2 rounded-md bg-sunken p-2">
                  <h2 className="flex items-center gap-2 px-1 font-semibold">
                    {humanize(stage)} <CountBadge value={here.length} />
                  </h2>
                  <AnimatedList gap={8} label={humanize(stage)}>
                    {here.map((one) => ({ key: one.id, row: <CaseCard found={one} stages={stages} /> }))}
                  </AnimatedList>
                </section>
              )
            })}
          </div>
          {cases.length === 0 && (
            <EmptyState
              title={status === 'open' ? 'No case is open' : 'No case is closed'}
              curl={toCurl('/v1/cases', { method: 'POST', body })}
            />
          )}
        </>
      )}
    </QueryResult>
  )
}

/** Who has been in a stage longest stands first, so what comes in joins at the end. */
function byArrival(a: Case, b: Case): number {
  return arrived(a) < arrived(b) ? -1 : 1
}

const arrived = ({ history, stage, id }: Case): string =>
  `${history.findLast(({ from, to }) => to === stage && from !== to)?.at ?? ''} ${id}`
