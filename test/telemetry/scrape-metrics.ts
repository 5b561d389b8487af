import { expect } from 'vitest'
import type { TestApp } from '../app.ts'

/** The samples of all metrics, by name and labels. */
export interface ScrapedMetrics {
  text: string
  value: (name: string, labels?: Record<string, string>) => number | undefined
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
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"/g

function parseMetrics(text: string): ScrapedMetrics {
  const samples = new Map<string, number>()
  const families = new Set<string>()
  for (const line of text.trimEnd().split('\n')) {
    const [, family = ''] = /^# TYPE (\w+) (?:counter|gauge|histogram)$/.exec(line) ?? []
    if (family) families.add(family)
    if (line.startsWith('#')) continue
    const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? []
    expect(name, line).not.toBe('')
    expect(families.has(name) || families.has(name.replace(/_(bucket|sum|count)$/, '')), line).toBe(true)
    const key = keyOf(name, Object.fromEntries([...labels.matchAll(LABEL)].map(([, label, text]) => [label, text])))
    expect(samples.has(key), `${key} twice`).toBe(false)
    samples.set(key, Number(value))
  }
  return { text, value: (name, labels = {}) => samples.get(keyOf(name, labels)) }
}

const keyOf = (name: string, labels: Record<string, unknown>) =>
  JSON.stringify([name, Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1))])
