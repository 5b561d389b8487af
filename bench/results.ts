import { median } from './load/statistics.ts'

/** One row of the printed table. */
export interface ResultRow {
  name: string
  unit: string
  value: number
  baseline: number | null
  ratio: number | null
  target: string
  /** Null: the value has no goal. */
  pass: boolean | null
  note: string
}

/** The values of service and baseline, measured in turn. */
export interface PairedSamples {
  service: number[]
  bare: number[]
}

/** Measures in turn, so that a busy machine affects both sides alike. */
export async function measureAlternating(
  rounds: number,
  service: () => Promise<number>,
  bare: () => Promise<number>,
): Promise<PairedSamples> {
  const pairs: PairedSamples = { service: [], bare: [] }
  for (let round = 0; round < rounds; round++) {
    // Each side goes first in every second round.
    if (round % 2 === 0) pairs.service.push(await service())
    pairs.bare.push(await bare())
    if (round % 2 === 1) pairs.service.push(await service())
  }
  return pairs
}

/** A rate that must reach a share of the rate of the baseline. */
export function rateRow(name: string, unit: string, pairs: PairedSamples, min: number | null, note = ''): ResultRow {
  const ratio = ratioOf(pairs)
  return {
    ...measured(name, unit, pairs),
    ratio,
    target: min === null ? '' : `≥ ${min} × bare`,
    pass: min === null ? null : ratio >= min,
    note,
  }
}

/** A cost that must stay below a multiple of the cost of the baseline. */
export function costRow(name: string, unit: string, pairs: PairedSamples, max: number | null, note = ''): ResultRow {
  const ratio = ratioOf(pairs)
  return {
    ...measured(name, unit, pairs),
    ratio,
    target: max === null ? '' : `≤ ${max} × bare`,
    pass: max === null ? null : ratio <= max,
    note,
  }
}

/** A value without a goal or a baseline. */
export const plainRow = (name: string, unit: string, value: number, note = ''): ResultRow => ({
  name,
  unit,
  value,
  baseline: null,
  ratio: null,
  target: '',
  pass: null,
  note,
})

/** A value with an absolute goal; the baseline is shown for comparison. */
export function goalRow(
  name: string,
  unit: string,
  pairs: PairedSamples,
  goal: { min?: number; max?: number },
  note = '',
): ResultRow {
  const row = measured(name, unit, pairs)
  const pass = row.value >= (goal.min ?? Number.NEGATIVE_INFINITY) && row.value <= (goal.max ?? Infinity)
  const target = goal.min === undefined ? `≤ ${goal.max} ${unit}` : `≥ ${goal.min} ${unit}`
  return { ...row, ratio: pairs.bare.length > 0 ? ratioOf(pairs) : null, target, pass, note }
}

function measured(name: string, unit: string, { service, bare }: PairedSamples) {
  return { name, unit, value: median(service), baseline: bare.length > 0 ? median(bare) : null }
}

/** Compares round by round, because the load of the machine changes between rounds. */
function ratioOf({ service, bare }: PairedSamples): number {
  return median(service.map((value, round) => value / (bare[round] ?? Number.NaN)))
}

export function formatResults(rows: readonly ResultRow[]): string {
  const head = ['measure', 'value', 'bare', 'ratio', 'target', '', 'note']
  const lines = rows.map((row) => [
    row.name,
    `${formatNumber(row.value)} ${row.unit}`,
    row.baseline === null ? '' : formatNumber(row.baseline),
    row.ratio === null ? '' : row.ratio.toFixed(2),
    row.target,
    row.pass === null ? '-' : row.pass ? 'pass' : 'FAIL',
    row.note,
  ])
  return alignColumns([head, ...lines])
}

/** Pads each column to its widest cell. */
export function alignColumns(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export function formatNumber(value: number): string {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US')
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
