import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { analyticsQuery } from '../../api/queries.ts'
import type { Analytics } from '../../api/types.ts'
import { formatDuration, formatNumber, formatPercent, formatUsd } from '../../ui/format.ts'
import { MetricRow } from '../../ui/metric-row.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { DailyChart } from './daily-chart.tsx'
import { analyticsText } from './text.ts'

const route = getRouteApi('/shell/analytics')

const PERIODS = ['7', '30', '90', '365'] as const
const APPROVAL_COUNTS = ['requested', 'pending', 'auto_approved', 'approved', 'rejected', 'expired'] as const

/** Task counts, success rate, cost and approval times over a period. */
export function AnalyticsPage() {
  const { days = '30' } = route.useSearch()
  const navigate = route.useNavigate()
  const query = useQuery(analyticsQuery(Number(days)))
  return (
    <Page
      title={analyticsText.title}
      lead={analyticsText.lead}
      actions={
        <Tabs
          label={analyticsText.period}
          value={days}
          tabs={PERIODS.map((value) => ({ value, label: analyticsText.days(Number(value)) }))}
          onChange={(to) => void navigate({ search: { days: to } })}
        />
      }
    >
      <QueryResult query={query}>{(data) => <Charts data={data} />}</QueryResult>
    </Page>
  )
}

function Charts({ data }: { data: Analytics }) {
  const { by_day, by_wedge, approvals } = data
  return (
    <>
      <Totals data={data} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 xl:grid-cols-2">
        <DailyChart
          title={analyticsText.tasksPerDay}
          days={by_day.map(({ day, runs, succeeded }) => ({ day, value: runs, part: succeeded }))}
          format={formatNumber}
          describePart={analyticsText.succeeded}
        />
        <DailyChart
          title={analyticsText.costPerDay}
          days={by_day.map(({ day, cost_usd }) => ({ day, value: cost_usd }))}
          format={formatUsd}
        />
      </div>
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 xl:grid-cols-2">
        <Section title={analyticsText.byWedge}>
          <Table label={analyticsText.byWedge} columns={analyticsText.wedgeColumns}>
            {by_wedge.map(({ wedge, runs, success_rate, cost_usd }) => (
              <tr key={wedge}>
                <td className="font-medium">{wedge}</td>
                <td className="tabular-nums">{formatNumber(runs)}</td>
                <td className="tabular-nums">{formatRate(success_rate)}</td>
                <td className="tabular-nums">{formatUsd(cost_usd)}</td>
              </tr>
            ))}
            {by_wedge.length === 0 && (
              <tr>
                <td colSpan={4} className="text-muted">
                  {analyticsText.noTasks}
                </td>
              </tr>
            )}
          </Table>
        </Section>
        <Section title={analyticsText.approvals}>
          <Table label={analyticsText.approvals} columns={analyticsText.approvalColumns}>
            {APPROVAL_COUNTS.map((name) => (
              <tr key={name}>
                <td>{analyticsText.approvalCounts[name]}</td>
                <td className="tabular-nums">{formatNumber(approvals[name])}</td>
              </tr>
            ))}
          </Table>
        </Section>
      </div>
    </>
  )
}

/** A dash while no task has ended. */
const formatRate = (rate: number | null) => (rate === null ? analyticsText.none : formatPercent(rate))

function Totals({ data }: { data: Analytics }) {
  const { runs, success_rate, cost_usd, median_approval_wait_s } = data
  const metrics: [string, string][] = [
    [analyticsText.tasks, formatNumber(runs)],
    [analyticsText.successRate, formatRate(success_rate)],
    [analyticsText.totalCost, formatUsd(cost_usd)],
    [
      analyticsText.medianApprovalTime,
      median_approval_wait_s === null ? analyticsText.none : formatDuration(median_approval_wait_s * 1_000),
    ],
  ]
  return <MetricRow metrics={metrics} />
}
