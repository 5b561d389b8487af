import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { toText } from '../../api/json.ts'
import { metaQuery, sessionQuery } from '../../api/queries.ts'
import type { JsonObject } from '../../api/types.ts'
import type { SettingsTab } from '../../search-params.ts'
import { FieldList } from '../../ui/json.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { ApiKeys } from './api-keys.tsx'
import { BrandSettings } from './brand-settings.tsx'
import { ConnectedApps } from './connected-apps.tsx'
import { Members } from './members.tsx'
import { Notifications } from './notifications/notifications.tsx'
import { Projects } from './projects.tsx'
import { settingsText } from './text.ts'

const text = settingsText.service

const route = getRouteApi('/shell/settings')

const TABS: SettingsTab[] = ['keys', 'members', 'projects', 'notifications', 'brand', 'service']

export function SettingsPage() {
  const { view = 'keys' } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: session } = useQuery(sessionQuery)
  return (
    <Page title={settingsText.title} lead={session?.organisation.name ?? ' '}>
      <Tabs
        label={settingsText.title}
        value={view}
        tabs={TABS.map((value) => ({ value, label: settingsText.tabs[value] }))}
        onChange={(to) => void navigate({ search: { view: to } })}
      />
      {view === 'keys' && <ApiKeys />}
      {view === 'keys' && <ConnectedApps />}
      {view === 'members' && <Members isKey={session?.member === null} />}
      {view === 'projects' && <Projects isKey={session?.member === null} />}
      {view === 'notifications' && <Notifications isKey={session?.member === null} />}
      {view === 'brand' && <BrandSettings />}
      {view === 'service' && <ServiceInfo />}
    </Page>
  )
}

function ServiceInfo() {
  const query = useQuery(metaQuery)
  return (
    <QueryResult query={query}>
      {({ version, store, sandbox, model }) => (
        <div className="panel flex flex-col gap-4 p-4">
          <FieldList
            value={{
              [text.version]: version,
              [text.store]: store.kind,
              [text.model]: model.provider === 'rehearsal' ? text.recordedRun : `${model.provider}/${model.name}`,
              [text.sandbox]: sandbox.kind,
              ...isolationFields(sandbox.isolation),
            }}
          />
          {isolationWarnings(sandbox.isolation).map((warning) => (
            <p key={warning} className="rounded-md bg-wait-soft px-3 py-2 text-wait first-letter:uppercase">
              {warning}
            </p>
          ))}
        </div>
      )}
    </QueryResult>
  )
}

/** Which parts of the machine the sandbox isolates from the agent. */
function isolationFields(isolation: JsonObject): JsonObject {
  const parts = Object.entries(isolation).filter(([, isIsolated]) => typeof isIsolated === 'boolean')
  return Object.fromEntries(
    parts.map(([name, isIsolated]) => [text.sandboxPart(name), isIsolated ? text.isolated : text.notIsolated]),
  )
}

const isolationWarnings = ({ warnings }: JsonObject): string[] => (Array.isArray(warnings) ? warnings.map(toText) : [])
