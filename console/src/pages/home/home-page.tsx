import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { errorMessage } from '../../api/http.ts'
import {
  analyticsQuery,
  metaQuery,
  type NeedsYou,
  needsYouQuery,
  newestTasksQuery,
  type TaskListItem,
} from '../../api/queries.ts'
import { buttonClass } from '../../ui/button.tsx'
import { ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { MetricRow } from '../../ui/metric-row.tsx'
import { RequireRole, useHasRole } from '../../ui/role.tsx'
import { Page } from '../../ui/page.tsx'
import { CountBadge } from '../../ui/tabs.tsx'
import { useNow } from '../../ui/time.tsx'
import { formatDuration, formatNumber, formatPercent, formatRelative, formatUsd } from '../../ui/format.ts'
import { TaskLines } from '../tasks/task-lines.tsx'
import { Guide, useGuide } from './guide.tsx'
import { NeedsYouList } from './needs-you.tsx'
import { homeText } from './text.ts'

/** What waits for a person, the latest tasks and the numbers of the last 30 days. */
export function HomePage() {
  const { data: needsYou, error } = useQuery(needsYouQuery)
  const { data: tasks } = useQuery(newestTasksQuery({}, 12))
  const guide = useGuide()
  const canDecide = useHasRole()('operator')
  const now = useNow(60_000)
  return (
    <Page
      title={pageTitle(needsYou, canDecide, now)}
      stackOnPhone
      actions={
        <RequireRole minRole="operator">
          <Link to="/run" className={buttonClass('primary')}>
            {homeText.runTask}
          </Link>
        </RequireRole>
      }
    >
      {needsYou && tasks && guide !== undefined ? (
        <>
          <WedgeProblems />
          <HomeSections
            overview={
              <>
                {guide && (
                  <RequireRole minRole="operator">
                    <Guide {...guide} />
                  </RequireRole>
                )}
                <Metrics />
              </>
            }
            needsYou={needsYou}
            tasks={tasks}
          />
        </>
      ) : error ? (
        <ErrorMessage message={errorMessage(error)} />
      ) : (
        <Placeholder className="h-96" />
      )}
    </Page>
  )
}

/** What waits comes first. The order stays while the page is open, so that a new item does not move everything. */
function HomeSections({
  overview,
  needsYou,
  tasks,
}: {
  overview: ReactNode
  needsYou: NeedsYou
  tasks: TaskListItem[]
}) {
  const total = countAll(needsYou)
  const [isOverviewFirst] = useState(total === 0)
  const canDecide = useHasRole()('operator')
  return (
    <>
      {isOverviewFirst && overview}
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-2">
        <HomePanel
          title={canDecide ? homeText.needsYou.title : homeText.needsYou.titleForViewers}
          count={total}
          to="/approvals"
        >
          <NeedsYouList items={needsYou.data} total={total} />
        </HomePanel>
        <HomePanel title={homeText.latestTasks} to="/tasks">
          {tasks.length === 0 && <p className="p-4 text-muted">{homeText.noTasks}</p>}
          <TaskLines tasks={tasks} label={homeText.latestTasks} />
        </HomePanel>
      </div>
      {!isOverviewFirst && overview}
    </>
  )
}

/** The list has the first items of each kind only. */
const countAll = ({ counts }: NeedsYou): number => Object.values(counts).reduce((all, count) => all + count, 0)

function pageTitle(needsYou: NeedsYou | undefined, canDecide: boolean, now: number): string {
  if (!needsYou) return homeText.title
  const count = countAll(needsYou)
  const [oldest] = needsYou.data
  if (!oldest) return canDecide ? homeText.caughtUp : homeText.noneWaiting
  if (count === needsYou.counts.approval) return homeText.approvalsWait(count, formatRelative(oldest.since, now))
  if (count === needsYou.counts.expired_task) return homeText.expired(count)
  return canDecide ? homeText.needsYou.count(count) : homeText.needsYou.countForViewers(count)
}

function HomePanel({
  title,
  count,
  to,
  children,
}: {
  title: string
  count?: number
  to: '/approvals' | '/tasks'
  children: ReactNode
}) {
  return (
    <section className="panel overflow-hidden">
      <header className="flex items-center gap-2 border-b border-line px-4 py-2">
        <h2 className="font-semibold">{title}</h2>
        {count !== undefined && <CountBadge value={count} urgent={count > 0} />}
        <Link to={to} className="ml-auto text-xs text-accent hover:underline">
          {to === '/tasks' ? homeText.allTasks : homeText.allApprovals}
        </Link>
      </header>
      {children}
    </section>
  )
}

/** The numbers of the last 30 days. */
function Metrics() {
  const { data } = useQuery(analyticsQuery(30))
  const { metrics } = homeText
  return (
    <MetricRow
      metrics={[
        [metrics.runs, data ? formatNumber(data.runs) : ' '],
        [metrics.successRate, data?.success_rate != null ? formatPercent(data.success_rate) : '—'],
        [metrics.totalCost, data ? formatUsd(data.cost_usd) : '—'],
        [
          metrics.approvalTime,
          data?.median_approval_wait_s != null ? formatDuration(data.median_approval_wait_s * 1_000) : '—',
        ],
      ]}
    />
  )
}

/** Wedges that failed to load. */
function WedgeProblems() {
  const { data: meta } = useQuery(metaQuery)
  return meta?.problems.map(({ wedge, problem }) => (
    <p key={wedge + problem} role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
      {homeText.wedgeProblem(wedge, problem)}
    </p>
  ))
}
