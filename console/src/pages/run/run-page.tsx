import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { errorMessage } from '../../api/http.ts'
import { recentTasksQuery, metaQuery, wedgesQuery } from '../../api/queries.ts'
import type { WedgeSummary } from '../../api/types.ts'
import { EmptyState, ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { Select } from '../../ui/form-fields.tsx'
import { humanize } from '../../ui/humanize.ts'
import { RequireRole, RoleHint } from '../../ui/role.tsx'
import { Page } from '../../ui/page.tsx'
import { exampleInput, inferInputFields } from './infer-input-fields.ts'
import { RunForm } from './run-form.tsx'
import { runText } from './text.ts'
import { WedgeCard } from './wedge-card.tsx'

const route = getRouteApi('/shell/run')

/** Starts a task with a form that is built from the wedge. */
export function RunPage() {
  const { data: wedges, error } = useQuery(wedgesQuery)
  return (
    <Page title={runText.title}>
      {error && <ErrorMessage message={errorMessage(error)} />}
      {!wedges && !error && <Placeholder className="h-96" />}
      {wedges?.length === 0 && <EmptyState title={runText.noWedges}>{runText.noWedgesHint}</EmptyState>}
      {wedges && wedges.length > 0 && (
        <RequireRole minRole="operator" fallback={<RoleHint>{runText.roleHint}</RoleHint>}>
          <WedgeRun wedges={wedges.filter(({ enabled }) => enabled)} />
        </RequireRole>
      )}
    </Page>
  )
}

function WedgeRun({ wedges }: { wedges: WedgeSummary[] }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const wedge =
    wedges.find((one) => one.wedge === search.wedge) ?? wedges.find(({ wedge }) => exampleInput(wedge)) ?? wedges[0]
  const { data: tasks } = useQuery({ ...recentTasksQuery(wedge?.wedge ?? ''), enabled: wedge !== undefined })
  const { data: meta } = useQuery(metaQuery)
  if (!wedge) return <EmptyState title={runText.noEnabledWedge}>{runText.noEnabledWedgeHint}</EmptyState>
  if (!tasks || !meta) return <Placeholder className="h-96" />
  const types = Object.keys(wedge.manifest.task_types)
  const taskType = types.find((one) => one === search.task_type) ?? types[0] ?? ''
  // The input of the last run of this type prefills the form.
  const last = tasks.find(({ task_type }) => task_type === taskType)?.input ?? null
  const fields = inferInputFields(wedge.manifest, taskType, last)
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 xl:grid-cols-[minmax(0,44rem)_22rem]">
      <div className="panel flex flex-col gap-4 p-5">
        {meta.model.provider === 'rehearsal' && <p className="text-muted">{runText.recordedRun}</p>}
        <div className="grid gap-4 sm:grid-cols-2">
          <Select
            label={runText.wedge}
            value={wedge.wedge}
            options={wedges.map(({ wedge, title }) => [wedge, title])}
            onChange={(to) => void navigate({ search: { wedge: to } })}
          />
          <Select
            label={runText.taskType}
            value={taskType}
            options={types.map((type) => [type, humanize(type)])}
            onChange={(to) => void navigate({ search: { wedge: wedge.wedge, task_type: to } })}
          />
        </div>
        <p className="text-muted">{wedge.manifest.task_types[taskType]?.description}</p>
        <RunForm
          key={`${wedge.wedge}/${taskType}`}
          wedge={wedge.wedge}
          taskType={taskType}
          fields={fields}
          initial={last ?? (fields.length > 0 ? exampleInput(wedge.wedge) : null)}
        />
      </div>
      <WedgeCard wedge={wedge} taskType={taskType} />
    </div>
  )
}
