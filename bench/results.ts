import { median } from './load/statistics.ts'

/** One line of the table. */
export interface ResultRow {
  name: string
  unit: string
  value: number
  baseline: number | null
  ratio: number | null
  target: string
  /** Null: reported only. */
  pass: boolean | null
  note: string
}

/** Two numbers that were measured in turn, round by round. */
export interface PairedSamples {
  service: number[]
  bare: number[]
}

/** Alternates, so that a busy machine troubles both sides alike. */
export async function measureAlternating(
  rounds: number,
  service: () => Promise<number>,
  bare: () => Promise<number>,
): Promise<PairedSamples> {
  const pairs: PairedSamples = { service: [], bare: [] }
  for (let round = 0; round < rounds; round++) {
    // Neither side always goes first.
    if (round % 2 === 0) pairs.service.push(await service())
    pairs.bare.push(await bare())
    if (round % 2 === 1) pairs.service.push(await service())
  }
  return pairs
}

/** A rate that must reach a share of the baseline's. */
export function rateRow(name: string, unit: string, pairs: PairedSamples, least: number | null, note = ''): ResultRow {
  const ratio = ratioOf(pairs)
  return {
    ...measured(name, unit, pairs),
    ratio,
    target: least === null ? '' : `≥ ${least} × bare`,
    pass: least === null ? null : ratio >= least,
    note,
  }
}

/** A cost that may be at most a multiple of the baseline's. */
export function costRow(name: string, unit: string, pairs: PairedSamples, most: number | null, note = ''): ResultRow {
  const ratio = ratioOf(pairs)
  return {
    ...measured(name, unit, pairs),
    ratio,
    target: most === null ? '' : `≤ ${most} × bare`,
    pass: most === null ? null : ratio <= most,
    note,
  }
}

/** A value with a goal of its own; the baseline is there to compare. */
export function goalRow(
  name: string,
  unit: string,
  pairs: PairedSamples,
  goal: { least?: number; most?: number },
  note = '',
): ResultRow {
  const row = measured(name, unit, pairs)
  const pass = row.value >= (goal.least ?? Number.NEGATIVE_INFINITY) && row.value <= (goal.most ?? Infinity)
  const target = goal.least === undefined ? `≤ ${goal.most} ${unit}` : `≥ ${goal.least} ${unit}`
  return { ...row, ratio: pairs.bare.length > 0 ? ratioOf(pairs) : null, target, pass, note }
}

function measured(name: string, unit: string, { service, bare }: PairedSamples) {
  return { name, unit, value: median(service), baseline: bare.length > 0 ? median(bare) : null }
}

/** Round against round, because rounds that lie close together saw the same machine. */
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

/** Cells in columns, as wide as the widest of each. */
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
