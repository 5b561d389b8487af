import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { textOf } from '../../api/json.ts'
import { metaQuery, sessionQuery } from '../../api/queries.ts'
import type { JsonObject } from '../../api/types.ts'
import type { SettingsView } from '../../address.ts'
import { Fields } from '../../ui/json.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Keys } from './keys.tsx'
import { Members } from './members.tsx'
import { Projects } from './projects.tsx'

const route = getRouteApi('/shell/settings')

const VIEWS: { value: SettingsView; label: string }[] = [
  { value: 'keys', label: 'Keys' },
  { value: 'members', label: 'Members' },
  { value: 'projects', label: 'Projects' },
  { value: 'service', label: 'Service' },
]

export function Settings() {
  const { view = 'keys' } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: session } = useQuery(sessionQuery)
  return (
    <Page title="Settings" lead={session?.organisation.name ?? ' '}>
      <Tabs label="Settings" value={view} tabs={VIEWS} onChange={(to) => void navigate({ search: { view: to } })} />
      {view === 'keys' && <Keys />}
      {view === 'members' && <Members isKey={session?.member === null} />}
      {view === 'projects' && <Projects isKey={session?.member === null} />}
      {view === 'service' && <Service />}
    </Page>
  )
}

function Service() {
  const query = useQuery(metaQuery)
  return (
    <Loaded query={query}>
      {({ version, store, sandbox, model }) => (
        <div className="panel flex flex-col gap-4 p-4">
          <Fields
            value={{
              version,
              store: store.kind,
              model: model.provider === model.name ? model.name : `${model.provider}/${model.name}`,
              sandbox: sandbox.kind,
              ...isolated(sandbox.isolation),
            }}
          />
          {warningsOf(sandbox.isolation).map((warning) => (
            <p key={warning} className="rounded-md bg-wait-soft px-3 py-2 text-wait first-letter:uppercase">
              {warning}
            </p>
          ))}
        </div>
      )}
    </Loaded>
  )
}

/** What the sandbox keeps from an agent, one line each. */
function isolated(isolation: JsonObject): JsonObject {
  const parts = Object.entries(isolation).filter(([, kept]) => typeof kept === 'boolean')
  return Object.fromEntries(parts.map(([name, kept]) => [`sandbox ${name}`, kept ? 'isolated' : 'not isolated']))
}

const warningsOf = ({ warnings }: JsonObject): string[] => (Array.isArray(warnings) ? warnings.map(textOf) : [])
