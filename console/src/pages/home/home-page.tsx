import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { errorMessage } from '../../api/http.ts'
import {
  analyticsQuery,
  approvalsQuery,
  expiredTasksQuery,
  metaQuery,
  newestTasksQuery,
  type TaskListItem,
} from '../../api/queries.ts'
import type { Approval } from '../../api/types.ts'
import type { TasksSearch } from '../../search-params.ts'
import { buttonClass } from '../../ui/button.tsx'
import { ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { MetricRow } from '../../ui/metric-row.tsx'
import { humanize } from '../../ui/humanize.ts'
import { RequireRole, useHasRole } from '../../ui/role.tsx'
import { Page } from '../../ui/page.tsx'
import { AnimatedList } from '../../ui/animated-list.tsx'
import { StatusBadge } from '../../ui/status.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { Countdown } from '../approvals/countdown.tsx'
import { approvalSummary } from '../approvals/approval-summary.ts'
import { formatDuration, formatNumber, formatPercent, formatUsd } from '../../ui/format.ts'
import { ExpiredTasks } from '../tasks/expired-tasks.tsx'
import { tasksText } from '../tasks/text.ts'
import { Guide, useGuide } from './guide.tsx'
import { homeText } from './text.ts'

/** Pending approvals, the latest tasks and the numbers of the last 30 days. */
export function HomePage() {
  const { data: approvals, error } = useQuery(approvalsQuery('pending'))
  const { data: tasks } = useQuery(newestTasksQuery({}, 12))
  const { data: expired } = useQuery(expiredTasksQuery)
  const guide = useGuide()
  const pending = approvals?.length ?? 0
  const canDecide = useHasRole()('operator')
  return (
    <Page
      title={pageTitle(pending, expired?.length ?? 0, canDecide)}
      stackOnPhone
      actions={
        <RequireRole minRole="operator">
          <Link to="/run" className={buttonClass('primary')}>
            {homeText.runTask}
          </Link>
        </RequireRole>
      }
    >
      {approvals && tasks && expired && guide !== undefined ? (
        <>
          <WedgeProblems />
          {guide && (
            <RequireRole minRole="operator">
              <Guide {...guide} />
            </RequireRole>
          )}
          <Metrics />
          <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-2 lg:grid-rows-[auto_1fr]">
            <HomePanel
              title={canDecide ? homeText.awaitingYourDecision : homeText.awaitingDecision}
              to="/approvals"
              count={approvals.length}
            >
              <PendingApprovals approvals={approvals.toReversed().slice(0, SHOWN_APPROVALS)} />
            </HomePanel>
            <HomePanel title={homeText.latestTasks} to="/tasks" className="lg:row-span-2">
              <LatestTasks tasks={tasks} />
            </HomePanel>
            {/* Last, so that it moves nothing when it appears. */}
            {expired.length > 0 && <ExpiredPanel tasks={expired} />}
          </div>
        </>
      ) : error ? (
        <ErrorMessage message={errorMessage(error)} />
      ) : (
        <Placeholder className="h-96" />
      )}
    </Page>
  )
}

function pageTitle(pending: number, expired: number, canDecide: boolean): string {
  if (pending === 0 && expired > 0) return homeText.expired(expired)
  if (pending === 0) return canDecide ? homeText.caughtUp : homeText.noneWaiting
  return canDecide ? homeText.needYourDecision(pending) : homeText.waiting(pending)
}

/** As many rows as fit into the panel. */
const SHOWN_APPROVALS = 6
const SHOWN_ON_PHONE = 3

interface PanelTarget {
  title: string
  to: string
  search?: TasksSearch
}

function HomePanel({
  count = 0,
  className = '',
  children,
  ...target
}: PanelTarget & { count?: number; className?: string; children: ReactNode }) {
  return (
    <section className={`panel overflow-hidden ${className}`}>
      <header className="flex items-center border-b border-line px-4 py-2">
        <h2 className="font-semibold">{target.title}</h2>
        <AllLink {...target} hidden={count - SHOWN_ON_PHONE} className="lg:hidden" />
        <AllLink {...target} hidden={count - SHOWN_APPROVALS} className="max-lg:hidden" />
      </header>
      {children}
    </section>
  )
}

function AllLink({ title, to, search = {}, hidden, className }: PanelTarget & { hidden: number; className: string }) {
  const text = hidden > 0 ? homeText.more(hidden) : homeText.viewAll
  return (
    <Link
      to={to}
      search={search}
      aria-label={`${text}: ${title}`}
      className={`ml-auto text-xs text-accent hover:underline ${className}`}
    >
      {text}
    </Link>
  )
}

const LINE = 'flex h-11 items-center gap-3 border-b border-line px-4 -outline-offset-2 hover:bg-hover'

function ExpiredPanel({ tasks }: { tasks: TaskListItem[] }) {
  return (
    <HomePanel title={tasksText.expired.title} to="/tasks" search={{ status: 'expired' }}>
      <p className="border-b border-line px-4 py-2 text-muted">{homeText.expiredHint}</p>
      <ExpiredTasks tasks={tasks.slice(0, SHOWN_APPROVALS)} />
    </HomePanel>
  )
}

/** A fixed height for six approvals (three on a phone), so that new approvals do not move the page. */
function PendingApprovals({ approvals }: { approvals: Approval[] }) {
  return (
    <div className="h-33 overflow-y-auto lg:h-66">
      {approvals.length === 0 && <p className="p-4 text-muted">{homeText.noApprovals}</p>}
      <AnimatedList>
        {approvals.map((approval) => ({ key: approval.approval_id, row: <PendingApproval approval={approval} /> }))}
      </AnimatedList>
    </div>
  )
}

function PendingApproval({ approval }: { approval: Approval }) {
  return (
    <Link to="/approvals" search={{ id: approval.approval_id }} className={LINE}>
      <span className="truncate font-medium">{approvalSummary(approval)}</span>
      <span className="ml-auto flex">
        <Countdown approval={approval} />
      </span>
    </Link>
  )
}

function LatestTasks({ tasks }: { tasks: TaskListItem[] }) {
  if (tasks.length === 0) return <p className="p-4 text-muted">{homeText.noTasks}</p>
  return <AnimatedList>{tasks.map((task) => ({ key: task.id, row: <TaskLine task={task} /> }))}</AnimatedList>
}

function TaskLine({ task }: { task: TaskListItem }) {
  return (
    <Link to="/tasks/$taskId" params={{ taskId: task.id }} className={LINE}>
      <span className="w-32 shrink-0">
        <StatusBadge status={task.status} />
      </span>
      <span className="min-w-0 truncate">
        <span className="font-medium">{humanize(task.task_type)}</span>{' '}
        <span className="text-muted">{task.summary}</span>
      </span>
      <span className="ml-auto text-xs text-muted max-sm:hidden">
        <TimeAgo ts={task.created_at} />
      </span>
    </Link>
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
        [metrics.successRate, data?.success_rate != null && data.runs > 0 ? formatPercent(data.success_rate) : '—'],
        [metrics.totalCost, data ? formatUsd(data.cost_usd) : '—'],
        [
          metrics.responseTime,
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
