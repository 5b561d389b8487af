import { spawnSync } from 'node:child_process'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { startTestApp } from '../app.ts'
import { advanceUntilSettled } from '../approvals/decisions/gated-app.ts'
import { page, ROOT } from '../docs/pages.ts'
import { providerStreams, startFakeProvider } from '../execution/models/fake-provider.ts'
import type { StoreKind } from '../stores.ts'
import { type ScrapedMetrics, scrapeMetrics } from '../insight/telemetry/scrape-metrics.ts'
import { readPromql } from './promql.ts'

const ALERTS = 'deploy/prometheus/alerts.yaml'
const ALERT_TESTS = 'deploy/prometheus/alerts.test.yaml'
const DASHBOARD = 'deploy/grafana/agent-work-service.json'

interface Alert {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; runbook_url: string }
}

const alerts: Alert[] = parse(page(ALERTS)).groups.flatMap(({ rules }: { rules: Alert[] }) => rules)
const dashboard = JSON.parse(page(DASHBOARD))
const panels: { title: string; type: string; targets?: { expr: string }[] }[] = dashboard.panels
const charts = panels.filter(({ type }) => type !== 'row')

const scrapes = new Map<StoreKind, ScrapedMetrics>()
/** The values of each label of each metric, of services on both stores. */
const known = new Map<string, Map<string, Set<string>>>()

beforeAll(async () => {
  for (const store of ['sqlite', 'postgres'] as const) {
    const scraped = await scrapeBusyService(store)
    scrapes.set(store, scraped)
    for (const { name, labels } of scraped.families.flatMap(({ samples }) => samples)) noteLabels(name, labels)
  }
})

describe('the alert rules and the dashboard', () => {
  const used = [
    ...alerts.map(({ alert, expr }) => [alert, expr] as const),
    ...charts.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ]

  test.each(used)('%s uses metrics and labels that the service has: %s', (_name, expr) => {
    const { metrics, groupedBy, matchedBy } = readPromql(expr)
    expect(metrics.length).toBeGreaterThan(0)
    for (const { name, matchers } of metrics) {
      expect([...known.keys()]).toContain(name)
      for (const { label, operator, value } of matchers) checkMatcher(name, label, operator, value)
      expect(groupedBy.filter((label) => !hasLabel(name, label))).toEqual([])
    }
    expect(matchedBy.filter((label) => !metrics.some(({ name }) => hasLabel(name, label)))).toEqual([])
  })

  test('the variables of the dashboard use a metric that the service has', () => {
    const queries = dashboard.templating.list.map(({ query }: { query: string }) => query)
    const [, metric = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(queries[1]) ?? []
    expect(hasLabel(metric, label)).toBe(true)
  })

  test('every chart has its own id, a description and a place that no other chart covers', () => {
    expect(new Set(dashboard.panels.map(({ id }: { id: number }) => id)).size).toBe(panels.length)
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }: { gridPos: Record<string, number> }) =>
      Array.from(
        { length: (w ?? 0) * (h ?? 0) },
        (_, n) => `${(x ?? 0) + (n % (w ?? 1))} ${(y ?? 0) + Math.floor(n / (w ?? 1))}`,
      ),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(charts.filter((chart) => !('description' in chart))).toEqual([])
  })
})

describe('the runbook', () => {
  const runbook = page('docs/runbook.md')
  const sections = new Map(
    runbook
      .split(/^## /m)
      .slice(1)
      .map((text) => [text.split('\n', 1)[0] ?? '', text]),
  )

  test.each(alerts)(
    '$alert leads to its section, which says what to look at and what to do',
    ({ alert, annotations }) => {
      expect(annotations.runbook_url).toBe(`https://example.com/docs/runbook.md#${alert.toLowerCase()}`)
      expect(annotations.summary).not.toBe('')
      const section = sections.get(alert) ?? ''
      for (const part of ['**Symptom.**', '**Look at.**', '**Do.**']) expect(section).toContain(part)
    },
  )

  test('the runbook has a section for each alert and no other, and operators find it', () => {
    expect([...sections.keys()].toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted())
    expect(page('docs/operations.md')).toContain('(runbook.md)')
    for (const { labels } of alerts) expect(['page', 'ticket']).toContain(labels.severity)
  })

  test('every metric that the runbook names exists', () => {
    const names = [...runbook.matchAll(/`((?:svc|process|nodejs)_[a-z_]+)[{`]/g)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(10)
    const families = [...scrapes.values()].flatMap((scraped) => scraped.families.map(({ name }) => name))
    expect(names.filter((name) => !families.includes(name))).toEqual([])
  })
})

describe('promtool', () => {
  const promtool = (args: string[], input = '') => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: ROOT, input, encoding: 'utf8' })
    return { status, output: stdout + stderr }
  }

  test('accepts the alert rules, and their tests pass', () => {
    expect(promtool(['check', 'rules', ALERTS])).toMatchObject({ status: 0 })
    expect(promtool(['test', 'rules', ALERT_TESTS])).toMatchObject({ status: 0 })
  })

  test.each(['sqlite', 'postgres'] as const)('accepts the metrics of a service on %s', (store) => {
    expect(promtool(['check', 'metrics'], scrapes.get(store)?.text)).toEqual({ status: 0, output: '' })
  })
})

/** A service whose model fails once, then answers, then refuses: every metric has a sample. */
async function scrapeBusyService(store: StoreKind): Promise<ScrapedMetrics> {
  const reply = { chunks: [providerStreams.anthropic({ call: { name: 'finish', input: { output: 'done' } } })] }
  const provider = await startFakeProvider({ status: 500 }, reply, { status: 400 })
  const env = {
    SVC_METRICS_PORT: '0',
    SVC_MODEL: 'anthropic/claude-sonnet-4-5',
    ANTHROPIC_BASE_URL: provider.url,
    ANTHROPIC_API_KEY: 'sk',
  }
  const app = await startTestApp({ store, env })
  try {
    for (const status of ['succeeded', 'failed']) {
      const { id } = await app.createTask()
      expect(await advanceUntilSettled(app, app.finished(id))).toMatchObject({ status })
    }
    return await scrapeMetrics(app)
  } finally {
    await app.stop()
    await provider.close()
  }
}

function noteLabels(name: string, labels: Record<string, string>): void {
  const noted = known.get(name) ?? new Map<string, Set<string>>()
  known.set(name, noted)
  for (const [label, value] of Object.entries(labels)) noted.set(label, (noted.get(label) ?? new Set()).add(value))
}

/** Prometheus itself adds `instance`. */
const hasLabel = (metric: string, label: string): boolean =>
  label === 'instance' || known.get(metric)?.has(label) === true

/** Labels whose values appear only when they happen. */
const RARE_VALUES: Record<string, RegExp> = { 'svc_http_requests_total status': /^[1-5]xx$/ }

function checkMatcher(metric: string, label: string, operator: string, value: string): void {
  expect(hasLabel(metric, label), `${metric} has no label ${label}`).toBe(true)
  if (operator !== '=' || RARE_VALUES[`${metric} ${label}`]?.test(value)) return
  expect([...(known.get(metric)?.get(label) ?? [])], `${metric}{${label}}`).toContain(value)
}
