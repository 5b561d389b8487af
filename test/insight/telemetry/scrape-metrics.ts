import { expect } from 'vitest'
import type { TestApp } from '../../app.ts'

/** The samples of all metrics, by name and labels. */
export interface ScrapedMetrics {
  text: string
  value: (name: string, labels?: Record<string, string>) => number | undefined
  families: MetricFamily[]
}

export interface MetricFamily {
  name: string
  type: string
  samples: MetricSample[]
}

interface MetricSample {
  name: string
  labels: Record<string, string>
  value: number
}

export async function scrapeMetrics(app: TestApp, headers: Record<string, string> = {}): Promise<ScrapedMetrics> {
  // The metrics are cached for five seconds.
  await app.clock.advance(5_000)
  const response = await fetch(app.app.metricsUrl ?? '', { headers })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  return parseMetrics(await response.text())
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?[0-9.e+-]+|\+Inf|NaN)$/
const LABELS = /^[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"(?:,[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*")*$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"/g

/** Parses the text strictly: every family is described once and before its samples, and histograms are consistent. */
export function parseMetrics(text: string): ScrapedMetrics {
  expect(text.endsWith('\n')).toBe(true)
  const samples = new Map<string, number>()
  const families: MetricFamily[] = []
  let described = ''
  for (const line of text.slice(0, -1).split('\n')) {
    const [, help = ''] = /^# HELP (\w+) \S/.exec(line) ?? []
    const [, typed = '', type = ''] = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(line) ?? []
    if (help) described = help
    if (typed) families.push({ name: typed, type, samples: [] })
    if (typed) expect(described, line).toBe(typed)
    if (help || typed) continue
    const sample = parseSample(line)
    const family = families.at(-1)
    expect(family && sampleNames(family).includes(sample.name), line).toBe(true)
    const key = keyOf(sample.name, sample.labels)
    expect(samples.has(key), `${key} twice`).toBe(false)
    samples.set(key, sample.value)
    family?.samples.push(sample)
  }
  expect(new Set(families.map(({ name }) => name)).size).toBe(families.length)
  for (const family of families) checkFamily(family)
  return { text, families, value: (name, labels = {}) => samples.get(keyOf(name, labels)) }
}

function parseSample(line: string): MetricSample {
  const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? []
  expect(name, line).not.toBe('')
  expect(labels === '' || LABELS.test(labels), line).toBe(true)
  const pairs = [...labels.matchAll(LABEL)].map(([, label = '', text = '']) => [label, text])
  expect(new Set(pairs.map(([label]) => label)).size, line).toBe(pairs.length)
  return { name, labels: Object.fromEntries(pairs), value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value) }
}

const sampleNames = ({ name, type }: MetricFamily) =>
  type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]

function checkFamily({ name, type, samples }: MetricFamily): void {
  expect(name.endsWith('_total'), name).toBe(type === 'counter')
  const labelNames = new Set(
    samples.map(({ labels }) =>
      Object.keys(labels)
        .filter((label) => label !== 'le')
        .join(),
    ),
  )
  expect(labelNames.size, `${name} has samples with different labels`).toBe(1)
  if (type === 'gauge') return
  for (const { value } of samples) expect(value, name).toBeGreaterThanOrEqual(0)
  if (type === 'histogram') checkHistogram(name, samples)
}

/** The buckets are cumulative in the order of their bounds, and the last one has all values. */
function checkHistogram(name: string, samples: MetricSample[]): void {
  const groups = new Map<string, MetricSample[]>()
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels
    groups.set(keyOf(name, labels), [...(groups.get(keyOf(name, labels)) ?? []), sample])
  }
  for (const [key, group] of groups) {
    const buckets = group.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels }) => Number(labels.le === '+Inf' ? Number.POSITIVE_INFINITY : labels.le))
    expect(bounds, key).toEqual(bounds.toSorted((a, b) => a - b))
    expect(bounds.at(-1), key).toBe(Number.POSITIVE_INFINITY)
    const values = buckets.map(({ value }) => value)
    expect(values, key).toEqual(values.toSorted((a, b) => a - b))
    expect(group.find((sample) => sample.name === `${name}_count`)?.value, key).toBe(values.at(-1))
    expect(group.filter((sample) => sample.name === `${name}_sum`)).toHaveLength(1)
  }
}

const keyOf = (name: string, labels: Record<string, unknown>) =>
  JSON.stringify([name, Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1))])
