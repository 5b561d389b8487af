import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { wedgesQuery } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/form-fields.tsx'
import { EmptyState, Placeholder } from '../../ui/page-states.tsx'
import { Page } from '../../ui/page.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { CaseBoard } from './case-board.tsx'
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
