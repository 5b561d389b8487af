import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { errorMessage } from '../../api/http.ts'
import { toObject } from '../../api/json.ts'
import { brokenWedgesQuery, recentTasksQuery, metaQuery, wedgesQuery } from '../../api/queries.ts'
import { wedgeQuery } from '../../api/setup-queries.ts'
import type { Json, WedgeSummary } from '../../api/types.ts'
import { EmptyState, ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { Select } from '../../ui/form-fields.tsx'
import { humanize } from '../../ui/humanize.ts'
import { RequireRole, RoleHint } from '../../ui/role.tsx'
import { Page } from '../../ui/page.tsx'
import { ProblemList } from '../wedges/problem-list.tsx'
import { inferInputFields } from './infer-input-fields.ts'
import { RunForm } from './run-form.tsx'
import { runText } from './text.ts'
import { WedgeCard } from './wedge-card.tsx'

const route = getRouteApi('/shell/run')

/** Comes with the service and works without connections. */
const EXAMPLE = 'refund-desk'

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

/** The wedge of the URL is never replaced by another one, because a task of the other one could have effects. */
function WedgeRun({ wedges }: { wedges: WedgeSummary[] }) {
  const search = route.useSearch()
  const wedge = search.wedge === undefined ? defaultWedge(wedges) : wedges.find((one) => one.wedge === search.wedge)
  if (wedges.length === 0) return <EmptyState title={runText.noEnabledWedge}>{runText.noEnabledWedgeHint}</EmptyState>
  if (!wedge) {
    return (
      <div className="panel flex max-w-[44rem] flex-col gap-4 p-5">
        <UnknownWedge slug={search.wedge ?? ''} />
        <WedgeSelect wedges={wedges} value="" />
      </div>
    )
  }
  return <TaskTypeRun key={wedge.wedge} wedges={wedges} wedge={wedge} />
}

const defaultWedge = (wedges: WedgeSummary[]) => wedges.find(({ wedge }) => wedge === EXAMPLE) ?? wedges[0]

function UnknownWedge({ slug }: { slug: string }) {
  const { data: broken } = useQuery(brokenWedgesQuery)
  const problems = broken?.find(({ wedge }) => wedge === slug)?.problems
  return (
    <div>
      <h2 className="font-semibold">{problems ? runText.brokenWedge(slug) : runText.unknownWedge(slug)}</h2>
      {problems ? <ProblemList problems={problems} /> : <p className="text-muted">{runText.unknownWedgeHint}</p>}
    </div>
  )
}

function WedgeSelect({ wedges, value }: { wedges: WedgeSummary[]; value: string }) {
  const navigate = route.useNavigate()
  const options = wedges.map(({ wedge, title }): [string, string] => [wedge, title])
  return (
    <Select
      label={runText.wedge}
      value={value}
      options={value === '' ? [['', runText.choose], ...options] : options}
      onChange={(to) => void navigate({ search: { wedge: to } })}
    />
  )
}

function TaskTypeRun({ wedges, wedge }: { wedges: WedgeSummary[]; wedge: WedgeSummary }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data: meta } = useQuery(metaQuery)
  const { data: tasks } = useQuery(recentTasksQuery(wedge.wedge))
  const { data: detail } = useQuery(wedgeQuery(wedge.wedge))
  if (!meta || !tasks || !detail) return <Placeholder className="h-96" />
  const types = Object.keys(wedge.manifest.task_types)
  const taskType = types.find((one) => one === (search.task_type ?? types[0]))
  const options = types.map((type): [string, string] => [type, humanize(type)])
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 xl:grid-cols-[minmax(0,44rem)_22rem]">
      <div className="panel flex flex-col gap-4 p-5">
        {meta.model.provider === 'rehearsal' && <p className="text-muted">{runText.recordedRun}</p>}
        <div className="grid gap-4 sm:grid-cols-2">
          <WedgeSelect wedges={wedges} value={wedge.wedge} />
          <Select
            label={runText.taskType}
            value={taskType ?? ''}
            options={taskType === undefined ? [['', runText.choose], ...options] : options}
            onChange={(to) => void navigate({ search: { wedge: wedge.wedge, task_type: to } })}
          />
        </div>
        {taskType === undefined ? (
          <div>
            <h2 className="font-semibold">{runText.unknownTaskType(search.task_type ?? '')}</h2>
            <p className="text-muted">{runText.unknownTaskTypeHint}</p>
          </div>
        ) : (
          <TaskTypeForm
            key={taskType}
            wedge={wedge}
            taskType={taskType}
            example={detail.task_types[taskType]?.example ?? null}
            last={tasks.find(({ task_type }) => task_type === taskType)?.input ?? null}
          />
        )}
      </div>
      {taskType !== undefined && <WedgeCard wedge={wedge} taskType={taskType} />}
    </div>
  )
}

/** The form starts with the example of the wedge. Real data of the last run is used only when it is asked for. */
function TaskTypeForm({
  wedge: { wedge, manifest },
  taskType,
  example,
  last,
}: {
  wedge: WedgeSummary
  taskType: string
  example: Json
  last: Json
}) {
  return (
    <>
      <p className="text-muted">{manifest.task_types[taskType]?.description}</p>
      <RunForm
        wedge={wedge}
        taskType={taskType}
        fields={inferInputFields(manifest, taskType, { ...toObject(last), ...toObject(example) })}
        initial={example}
        last={last}
      />
    </>
  )
}
