import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { metaQuery, sessionQuery } from '../../api/queries.ts'
import type { SettingsView } from '../../router.tsx'
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
        <div className="panel p-4">
          <Fields
            value={{
              version,
              store: store.kind,
              sandbox: sandbox.kind,
              model: `${model.provider} ${model.name}`,
              isolation: sandbox.isolation,
            }}
          />
        </div>
      )}
    </Loaded>
  )
}
