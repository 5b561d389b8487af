import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { analyticsQuery } from '../../api/queries.ts'
import type { Analytics } from '../../api/types.ts'
import { MetricRow } from '../../ui/metric-row.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { formatUsd, formatDuration } from '../../ui/format.ts'
import { Bars } from './bars.tsx'

const route = getRouteApi('/shell/analytics')

const SPANS = ['7', '30', '90', '365'] as const

/** How much ran, how it ended, what it cost and how long people took. */
export function AnalyticsPage() {
  const { days = '30' } = route.useSearch()
  const navigate = route.useNavigate()
  const query = useQuery(analyticsQuery(Number(days)))
  return (
    <Page
      title="Analytics"
      lead="By the day a task was created, in UTC."
      actions={
        <Tabs
          label="Days"
          value={days}
          tabs={SPANS.map((value) => ({ value, label: `${value} days` }))}
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
      <Numbers data={data} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 xl:grid-cols-2">
        <Bars
          title="Tasks a day"
          days={by_day.map(({ day, runs, succeeded }) => ({ day, value: runs, part: succeeded }))}
          text={(value) => value.toLocaleString('en')}
          partName="succeeded"
        />
        <Bars
          title="Cost a day"
          days={by_day.map(({ day, cost_usd }) => ({ day, value: cost_usd }))}
          text={formatUsd}
        />
      </div>
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 xl:grid-cols-2">
        <Section title="By wedge">
          <Table label="By wedge" columns={['Wedge', 'Tasks', 'Succeeded', 'Cost']}>
            {by_wedge.map(({ wedge, runs, success_rate, cost_usd }) => (
              <tr key={wedge}>
                <td className="font-medium">{wedge}</td>
                <td className="tabular-nums">{runs.toLocaleString('en')}</td>
                <td className="tabular-nums">{Math.round(success_rate * 100)} %</td>
                <td className="tabular-nums">{formatUsd(cost_usd)}</td>
              </tr>
            ))}
            {by_wedge.length === 0 && (
              <tr>
                <td colSpan={4} className="text-muted">
                  No task in this time.
                </td>
              </tr>
            )}
          </Table>
        </Section>
        <Section title="Approvals">
          <Table label="Approvals" columns={['What', 'How many']}>
            {Object.entries(approvals).map(([name, count]) => (
              <tr key={name}>
                <td>{name.replaceAll('_', ' ')}</td>
                <td className="tabular-nums">{count.toLocaleString('en')}</td>
              </tr>
            ))}
          </Table>
        </Section>
      </div>
    </>
  )
}

function Numbers({ data }: { data: Analytics }) {
  const { runs, success_rate, cost_usd, median_approval_wait_s } = data
  const numbers: [string, string][] = [
    ['Tasks', runs.toLocaleString('en')],
    ['Succeeded', runs > 0 && success_rate !== null ? `${Math.round(success_rate * 100)} %` : '—'],
    ['Spent', formatUsd(cost_usd)],
    ['People decide within', median_approval_wait_s === null ? '—' : formatDuration(median_approval_wait_s * 1_000)],
  ]
  return <MetricRow metrics={numbers} />
}
