import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { brokenWedgesQuery } from '../../api/queries.ts'
import { intakeQuery, type WedgeDetail, wedgeQuery } from '../../api/setup-queries.ts'
import type { WedgeTab } from '../../search-params.ts'
import { buttonClass } from '../../ui/button.tsx'
import { describeConnections } from '../../ui/declared-connections.ts'
import { humanize } from '../../ui/humanize.ts'
import { JsonView } from '../../ui/json.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Tag } from '../../ui/status.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { MissingConnections } from '../connections/missing-connections.tsx'
import { DocumentList } from './document-list.tsx'
import { SkillFolderList } from './skill-folder-list.tsx'
import { IntakeView } from './intake-view.tsx'
import { KnowledgeView } from './knowledge-view.tsx'
import { PolicyView } from './policy-view.tsx'
import { ProblemList } from './problem-list.tsx'
import { wedgesText } from './text.ts'

const route = getRouteApi('/shell/wedges/$wedge')

const VIEWS: WedgeTab[] = ['about', 'knowledge', 'intake', 'policy', 'manifest']

export function WedgePage() {
  const { wedge } = route.useParams()
  const query = useQuery(wedgeQuery(wedge))
  const { data: broken } = useQuery(brokenWedgesQuery)
  const problems = broken?.find((one) => one.wedge === wedge)?.problems
  return (
    <Page
      title={query.data?.title ?? wedgesText.wedge}
      lead={<code className="font-mono text-xs">{wedge}</code>}
      actions={
        query.data && (
          <RequireRole minRole="operator">
            <Link to="/run" search={{ wedge }} className={buttonClass('primary')}>
              {wedgesText.run}
            </Link>
          </RequireRole>
        )
      }
    >
      {problems ? (
        <Section title={wedgesText.cannotBeUsed}>
          <ProblemList problems={problems} />
          <p className="text-muted">{wedgesText.cannotBeUsedHint}</p>
        </Section>
      ) : (
        <QueryResult query={query}>
          {(detail) => (
            <>
              <ViewTabs wedge={wedge} />
              <ChosenView key={wedge} detail={detail} />
            </>
          )}
        </QueryResult>
      )}
    </Page>
  )
}

function ViewTabs({ wedge }: { wedge: string }) {
  const { view = 'about' } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: intake } = useQuery(intakeQuery(wedge))
  const openQuestions = intake?.questions.filter(({ status }) => status === 'open').length
  const tabs = VIEWS.map((value) => ({
    value,
    label: wedgesText.views[value],
    ...(value === 'intake' && { count: openQuestions ?? null }),
  }))
  return (
    <Tabs
      label={wedgesText.viewsLabel}
      value={view}
      tabs={tabs}
      onChange={(to) => void navigate({ search: { view: to } })}
    />
  )
}

function ChosenView({ detail }: { detail: WedgeDetail }) {
  const { view = 'about' } = route.useSearch()
  if (view === 'knowledge') return <KnowledgeView wedge={detail.wedge} knowledge={detail.knowledge} />
  if (view === 'intake') return <IntakeView wedge={detail.wedge} />
  if (view === 'policy') return <PolicyView wedge={detail} />
  if (view === 'manifest')
    return <JsonView value={manifestJson(detail)} label={wedgesText.views.manifest} max="max-h-[70dvh]" />
  return <AboutView detail={detail} />
}

const manifestJson = ({ manifest }: WedgeDetail) => JSON.parse(JSON.stringify(manifest))

function AboutView({ detail: { wedge, manifest, skills, skill_folders, problems } }: { detail: WedgeDetail }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6 lg:grid-cols-2">
      <Section title={wedgesText.taskTypes}>
        {problems.length > 0 && <ProblemList problems={problems} />}
        <ul className="panel divide-y divide-line">
          {Object.entries(manifest.task_types).map(([type, { description, harness }]) => (
            <li key={type} className="px-4 py-3">
              <span className="font-medium">{humanize(type)}</span> <Tag>{harness?.shape ?? wedgesText.agent}</Tag>
              <p className="text-muted">{description}</p>
            </li>
          ))}
        </ul>
        {manifest.connections && manifest.connections.length > 0 && (
          <p className="text-muted">{wedgesText.connections(describeConnections(manifest))}</p>
        )}
        <MissingConnections wedge={wedge} />
      </Section>
      <Section title={wedgesText.skills}>
        <SkillFolderList folders={skill_folders} />
        {(skills.length > 0 || skill_folders.length === 0) && (
          <DocumentList documents={skills} none={wedgesText.noSkills} />
        )}
      </Section>
    </div>
  )
}
