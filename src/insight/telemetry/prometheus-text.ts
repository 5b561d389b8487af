import type { Histogram } from '../../platform/ctx/histogram.ts'

/** A metric with its help text and samples. */
export interface MetricFamily {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  samples: MetricSample[]
}

export interface MetricSample {
  /** The ending that a histogram adds to its name, such as `_bucket`. */
  suffix?: string
  labels?: Record<string, string>
  value: number
}

export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The metrics in Prometheus' text format. A metric without samples is left out. */
export function toPrometheusText(families: readonly MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, type, samples }) =>
      [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...samples.map((sample) => sampleLine(name, sample)),
        '',
      ].join('\n'),
    )
    .join('')
}

export const counterFamily = (name: string, help: string, samples: number | MetricSample[]) =>
  toFamily('counter', name, help, samples)

export const gaugeFamily = (name: string, help: string, samples: number | MetricSample[]) =>
  toFamily('gauge', name, help, samples)

export const histogramFamily = (
  name: string,
  help: string,
  histograms: { labels: Record<string, string>; histogram: Histogram }[],
): MetricFamily => ({
  name,
  help,
  type: 'histogram',
  samples: histograms.flatMap(({ labels, histogram }) => histogramSamples(labels, histogram)),
})

function histogramSamples(labels: Record<string, string>, { bounds, counts, sum }: Histogram): MetricSample[] {
  let total = 0
  const buckets = [...bounds.map(String), '+Inf'].map((le, i) => {
    total += counts[i] ?? 0
    return { suffix: '_bucket', labels: { ...labels, le }, value: total }
  })
  return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: total }]
}

function toFamily(
  type: MetricFamily['type'],
  name: string,
  help: string,
  samples: number | MetricSample[],
): MetricFamily {
  return { name, help, type, samples: typeof samples === 'number' ? [{ value: samples }] : samples }
}

function sampleLine(name: string, { suffix = '', labels = {}, value }: MetricSample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  return `${name}${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`
}

const escapeLabel = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
