import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { messageOf } from '../../api/http.ts'
import { lastTaskQuery, metaQuery, wedgesQuery } from '../../api/queries.ts'
import type { WedgeSummary } from '../../api/types.ts'
import { Empty, Failure, Waiting } from '../../ui/empty.tsx'
import { Choice } from '../../ui/form.tsx'
import { humanize } from '../../ui/json.tsx'
import { May, OthersDo } from '../../ui/may.tsx'
import { Page } from '../../ui/page.tsx'
import { exampleOf, fieldsOf } from './fields.ts'
import { InputForm } from './form.tsx'
import { WedgeCard } from './wedge-card.tsx'

const route = getRouteApi('/shell/run')

/** Starts a task by hand, with a form made from the wedge. */
export function Run() {
  const { data: wedges, error } = useQuery(wedgesQuery)
  return (
    <Page title="Run a task">
      {error && <Failure message={messageOf(error)} />}
      {!wedges && !error && <Waiting className="h-96" />}
      {wedges?.length === 0 && (
        <Empty title="There is no wedge yet">
          A wedge is a folder with a wedge.json. Put one into the wedges folder and it appears here by itself.
        </Empty>
      )}
      {wedges && wedges.length > 0 && (
        <May least="operator" otherwise={<OthersDo>operators run tasks</OthersDo>}>
          <Chosen wedges={wedges.filter(({ enabled }) => enabled)} />
        </May>
      )}
    </Page>
  )
}

function Chosen({ wedges }: { wedges: WedgeSummary[] }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const wedge =
    wedges.find((one) => one.wedge === search.wedge) ?? wedges.find(({ wedge }) => exampleOf(wedge)) ?? wedges[0]
  const { data: tasks } = useQuery({ ...lastTaskQuery(wedge?.wedge ?? ''), enabled: wedge !== undefined })
  const { data: meta } = useQuery(metaQuery)
  if (!wedge) return <Empty title="No wedge is enabled for this project" />
  if (!tasks || !meta) return <Waiting className="h-96" />
  const types = Object.keys(wedge.manifest.task_types)
  const taskType = types.find((one) => one === search.task_type) ?? types[0] ?? ''
  // What the last run of the kind got is the best example there is.
  const last = tasks.find(({ task_type }) => task_type === taskType)?.input ?? null
  const fields = fieldsOf(wedge.manifest, taskType, last)
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 xl:grid-cols-[minmax(0,44rem)_22rem]">
      <div className="panel flex flex-col gap-4 p-5">
        {meta.model.provider === 'rehearsal' && (
          <p className="text-muted">
            No model is set: the wedge’s own script is played. What it sends through connections is really sent.
          </p>
        )}
        <div className="grid gap-4 sm:grid-cols-2">
          <Choice
            label="Wedge"
            value={wedge.wedge}
            options={wedges.map(({ wedge, title }) => [wedge, title])}
            onChange={(to) => void navigate({ search: { wedge: to } })}
          />
          <Choice
            label="Task type"
            value={taskType}
            options={types.map((type) => [type, humanize(type)])}
            onChange={(to) => void navigate({ search: { wedge: wedge.wedge, task_type: to } })}
          />
        </div>
        <p className="text-muted">{wedge.manifest.task_types[taskType]?.description}</p>
        <InputForm
          key={`${wedge.wedge}/${taskType}`}
          wedge={wedge.wedge}
          taskType={taskType}
          fields={fields}
          initial={last ?? (fields.length > 0 ? exampleOf(wedge.wedge) : null)}
        />
      </div>
      <WedgeCard wedge={wedge} taskType={taskType} />
    </div>
  )
}
