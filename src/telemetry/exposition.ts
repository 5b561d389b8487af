/** A figure with its meaning, in the terms of Prometheus. */
export interface Family {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  samples: Sample[]
}

export interface Sample {
  /** What a histogram puts behind its name. */
  suffix?: string
  labels?: Record<string, string>
  value: number
}

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Families as Prometheus reads them. One without samples is left out. */
export function exposition(families: readonly Family[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, type, samples }) =>
      [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples.map((sample) => line(name, sample)), ''].join(
        '\n',
      ),
    )
    .join('')
}

export const counter = (name: string, help: string, samples: number | Sample[]) =>
  family('counter', name, help, samples)

export const gauge = (name: string, help: string, samples: number | Sample[]) => family('gauge', name, help, samples)

/** The samples of one histogram. `within` counts each value once, at the first bound that it does not pass. */
export function histogramSamples(
  labels: Record<string, string>,
  bounds: readonly number[],
  { within, sum }: { within: readonly number[]; sum: number },
): Sample[] {
  let below = 0
  const buckets = [...bounds.map(String), '+Inf'].map((le, place) => {
    below += within[place] ?? 0
    return { suffix: '_bucket', labels: { ...labels, le }, value: below }
  })
  return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: below }]
}

function family(type: Family['type'], name: string, help: string, samples: number | Sample[]): Family {
  return { name, help, type, samples: typeof samples === 'number' ? [{ value: samples }] : samples }
}

function line(name: string, { suffix = '', labels = {}, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `${name}${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`
}

const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
