import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type WedgeDetail, intakeQuery, wedgeQuery } from '../../api/setup.ts'
import type { WedgeView } from '../../address.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Failure } from '../../ui/empty.tsx'
import { humanize, JsonView } from '../../ui/json.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { May } from '../../ui/may.tsx'
import { Page } from '../../ui/page.tsx'
import { Tag } from '../../ui/status.tsx'
import { Section } from '../../ui/table.tsx'
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
        <May least="operator">
          <Link to="/run" search={{ wedge }} className={buttonClass('primary')}>
            Run it
          </Link>
        </May>
      }
    >
      <Views wedge={wedge} />
      <Loaded query={query}>{(detail) => <View key={wedge} detail={detail} />}</Loaded>
    </Page>
  )
}

function Views({ wedge }: { wedge: string }) {
  const { view = 'about' } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: intake } = useQuery(intakeQuery(wedge))
  const open = intake?.questions.filter(({ status }) => status === 'open').length
  const tabs: { value: WedgeView; label: string; count?: number | undefined }[] = [
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
          <Failure key={problem} message={problem} />
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
