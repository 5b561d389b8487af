export interface DiffLine {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** Above this many pairs of lines the comparison would be slow, so all lines count as changed. */
const MAX_LINE_PAIRS = 1_000_000

/** Lists removed, added and unchanged lines by the longest common subsequence of the two texts. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  if (a.length * b.length > MAX_LINE_PAIRS) return [...toDiffLines('removed', a), ...toDiffLines('added', b)]
  const common = commonLengths(a, b)
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [old, current] = [a[i], b[j]]
    if (old !== undefined && old === current) {
      lines.push({ kind: 'same', text: old })
      i++
      j++
    } else if (current === undefined || (old !== undefined && at(common, i + 1, j) >= at(common, i, j + 1))) {
      lines.push({ kind: 'removed', text: old ?? '' })
      i++
    } else {
      lines.push({ kind: 'added', text: current })
      j++
    }
  }
  return lines
}

const toDiffLines = (kind: DiffLine['kind'], lines: string[]): DiffLine[] => lines.map((text) => ({ kind, text }))

/** For every i and j: the length of the longest common subsequence of the lines from i and from j on. */
function commonLengths(a: string[], b: string[]): number[][] {
  const table: number[][] = []
  for (let i = a.length - 1; i >= 0; i--) {
    const row: number[] = []
    table[i] = row
    for (let j = b.length - 1; j >= 0; j--) {
      row[j] = a[i] === b[j] ? at(table, i + 1, j + 1) + 1 : Math.max(at(table, i + 1, j), at(table, i, j + 1))
    }
  }
  return table
}

const at = (table: number[][], i: number, j: number): number => table[i]?.[j] ?? 0
