import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { call } from '../../api/http.ts'
import { type Blueprint, blueprintsQuery } from '../../api/setup.ts'
import { useWrite } from '../../api/write.ts'
import { Empty } from '../../ui/empty.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { OthersDo, useMay } from '../../ui/may.tsx'
import { Page } from '../../ui/page.tsx'
import { Tag } from '../../ui/status.tsx'
import { toast } from '../../ui/toast.tsx'
import { WriteButton } from '../../ui/write-button.tsx'
import { Checklist } from './checklist.tsx'

const route = getRouteApi('/shell/blueprints')

/** Whole offers to set up: a wedge with the connections, schedules and knowledge that it needs. */
export function Blueprints() {
  const query = useQuery(blueprintsQuery)
  const { slug } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Page title="Blueprints" lead="Whole offers, set up by a checklist.">
      <Loaded query={query}>
        {(blueprints) => {
          const chosen = blueprints.find(({ blueprint }) => blueprint === slug) ?? blueprints[0]
          if (!chosen) {
            return <Empty title="There is no blueprint">Put one as a JSON file into the blueprints folder.</Empty>
          }
          return (
            <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[22rem_minmax(0,1fr)]">
              <ul aria-label="Blueprints" className="panel divide-y divide-line overflow-hidden">
                {blueprints.map(({ blueprint, title, summary, active }) => (
                  <li key={blueprint}>
                    <button
                      type="button"
                      aria-pressed={blueprint === chosen.blueprint}
                      onClick={() => void navigate({ search: { slug: blueprint } })}
                      className="flex w-full flex-col gap-1 px-4 py-3 text-left -outline-offset-2 hover:bg-hover aria-pressed:bg-accent-soft"
                    >
                      <span className="flex w-full items-center gap-2 font-medium">
                        {title} {active && <Tag tone="ok">active</Tag>}
                      </span>
                      <span className="text-muted">{summary}</span>
                    </button>
                  </li>
                ))}
              </ul>
              <Chosen key={chosen.blueprint} blueprint={chosen} />
            </div>
          )
        }}
      </Loaded>
    </Page>
  )
}

function Chosen({ blueprint: { blueprint, title, sells_as, installed, active } }: { blueprint: Blueprint }) {
  const mayBegin = useMay()('admin')
  const stale = ['blueprints', 'connections', 'schedules', 'wedges']
  const provision = useWrite(() => call(`/v1/blueprints/${blueprint}/provision`, { method: 'POST', body: {} }), {
    stale,
    onDone: () => toast('What was missing is made; nothing that was there has changed'),
  })
  const activate = useWrite(() => call(`/v1/blueprints/${blueprint}/activate`, { method: 'POST' }), {
    stale,
    onDone: () => toast(`${title} works now`),
  })
  return (
    <section className="panel flex flex-col gap-4 p-5">
      <header className="flex flex-wrap items-center gap-2">
        <h2 className="text-base font-semibold">{title}</h2>
        <span className="ml-auto flex gap-2">
          {mayBegin && !installed && (
            <WriteButton look="primary" write={provision}>
              Set up
            </WriteButton>
          )}
          {mayBegin && installed && !active && (
            <WriteButton look="primary" write={activate}>
              Activate
            </WriteButton>
          )}
        </span>
      </header>
      <p className="text-muted">{sells_as}</p>
      {!active && !mayBegin && <OthersDo>admins set it up</OthersDo>}
      <Checklist blueprint={blueprint} />
    </section>
  )
}
