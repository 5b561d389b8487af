import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type WedgeDetail, intakeQuery, wedgeQuery } from '../../api/setup-queries.ts'
import type { WedgeTab } from '../../search-params.ts'
import { buttonClass } from '../../ui/button.tsx'
import { ErrorMessage } from '../../ui/page-states.tsx'
import { JsonView } from '../../ui/json.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { Tag } from '../../ui/status.tsx'
import { humanize } from '../../ui/humanize.ts'
import { Tabs } from '../../ui/tabs.tsx'
import { IntakeView } from './intake.tsx'
import { KnowledgeView } from './knowledge.tsx'
import { PolicyView } from './policy.tsx'
import { Texts } from './texts.tsx'

const route = getRouteApi('/shell/wedges/$wedge')

export function WedgePage() {
  const { wedge } = route.useParams()
  const query = useQuery(wedgeQuery(wedge))
  return (
    <Page
      title={query.data?.title ?? 'Wedge'}
      lead={<code className="font-mono text-xs">{wedge}</code>}
      actions={
        <RequireRole minRole="operator">
          <Link to="/run" search={{ wedge }} className={buttonClass('primary')}>
            Run it
          </Link>
        </RequireRole>
      }
    >
      <Views wedge={wedge} />
      <QueryResult query={query}>{(detail) => <View key={wedge} detail={detail} />}</QueryResult>
    </Page>
  )
}

function Views({ wedge }: { wedge: string }) {
  const { view = 'about' } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: intake } = useQuery(intakeQuery(wedge))
  const open = intake?.questions.filter(({ status }) => status === 'open').length
  const tabs: { value: WedgeTab; label: string; count?: number | undefined }[] = [
    { value: 'about', label: 'About' },
    { value: 'knowledge', label: 'Knowledge' },
    { value: 'intake', label: 'Intake', count: open },
    { value: 'policy', label: 'Policy' },
    { value: 'manifest', label: 'Manifest' },
  ]
  return (
    <Tabs
      label="Views of the wedge"
      value={view}
      tabs={tabs}
      onChange={(to) => void navigate({ search: { view: to } })}
    />
  )
}

function View({ detail }: { detail: WedgeDetail }) {
  const { view = 'about' } = route.useSearch()
  if (view === 'knowledge') return <KnowledgeView wedge={detail.wedge} knowledge={detail.knowledge} />
  if (view === 'intake') return <IntakeView wedge={detail.wedge} />
  if (view === 'policy') return <PolicyView wedge={detail} />
  if (view === 'manifest') return <JsonView value={asJson(detail)} label="Manifest" max="max-h-[70dvh]" />
  return <About detail={detail} />
}

const asJson = ({ manifest }: WedgeDetail) => JSON.parse(JSON.stringify(manifest))

function About({ detail: { manifest, skills, problems } }: { detail: WedgeDetail }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6 lg:grid-cols-2">
      <Section title="What it does">
        {problems.map((problem) => (
          <ErrorMessage key={problem} message={problem} />
        ))}
        <ul className="panel divide-y divide-line">
          {Object.entries(manifest.task_types).map(([type, { description, harness }]) => (
            <li key={type} className="px-4 py-3">
              <span className="font-medium">{humanize(type)}</span> <Tag>{harness?.shape ?? 'agent'}</Tag>
              <p className="text-muted">{description}</p>
            </li>
          ))}
        </ul>
        {manifest.connections && manifest.connections.length > 0 && (
          <p className="text-muted">Works through {manifest.connections.join(', ')}.</p>
        )}
      </Section>
      <Section title="Skills">
        <Texts texts={skills} none="None." />
      </Section>
    </div>
  )
}
