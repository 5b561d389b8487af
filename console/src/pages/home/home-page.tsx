import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { analyticsQuery, approvalsQuery, metaQuery, newestTasksQuery, type TaskListItem } from '../../api/queries.ts'
import type { Approval } from '../../api/types.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Placeholder } from '../../ui/page-states.tsx'
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
import { Guide, useGuide } from './guide.tsx'
import { homeText } from './text.ts'

/** Pending approvals, the latest tasks and the numbers of the last 30 days. */
export function HomePage() {
  const { data: approvals } = useQuery(approvalsQuery('pending'))
  const { data: tasks } = useQuery(newestTasksQuery({}, 12))
  const guide = useGuide()
  const pending = approvals?.length ?? 0
  const canDecide = useHasRole()('operator')
  return (
    <Page
      title={pageTitle(pending, canDecide)}
      stackOnPhone
      actions={
        <RequireRole minRole="operator">
          <Link to="/run" className={buttonClass('primary')}>
            {homeText.runTask}
          </Link>
        </RequireRole>
      }
    >
      {approvals && tasks && guide !== undefined ? (
        <>
          <WedgeProblems />
          {guide && (
            <RequireRole minRole="operator">
              <Guide {...guide} />
            </RequireRole>
          )}
          <Metrics />
          <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-2">
            <HomePanel title={canDecide ? homeText.awaitingYourDecision : homeText.awaitingDecision} to="/approvals">
              <PendingApprovals approvals={approvals.toReversed().slice(0, 6)} />
            </HomePanel>
            <HomePanel title={homeText.latestTasks} to="/tasks">
              <LatestTasks tasks={tasks} />
            </HomePanel>
          </div>
        </>
      ) : (
        <Placeholder className="h-96" />
      )}
    </Page>
  )
}

function pageTitle(pending: number, canDecide: boolean): string {
  if (pending === 0) return canDecide ? homeText.caughtUp : homeText.noneWaiting
  return canDecide ? homeText.needYourDecision(pending) : homeText.waiting(pending)
}

function HomePanel({ title, to, children }: { title: string; to: string; children: ReactNode }) {
  return (
    <section className="panel overflow-hidden">
      <header className="flex items-center border-b border-line px-4 py-2">
        <h2 className="font-semibold">{title}</h2>
        <Link to={to} aria-label={homeText.viewAllOf(title)} className="ml-auto text-xs text-accent hover:underline">
          {homeText.viewAll}
        </Link>
      </header>
      {children}
    </section>
  )
}

const LINE = 'flex h-11 items-center gap-3 border-b border-line px-4 -outline-offset-2 hover:bg-hover'

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
