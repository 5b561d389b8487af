export interface DiffLine {
  kind: 'same' | 'gone' | 'added'
  text: string
}

/** Beyond this many pairs of lines the common parts are not searched for: everything changed, in two blocks. */
const MOST = 1_000_000

/** Which lines went and which came, by their longest common sequence. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  if (a.length * b.length > MOST) return [...mark('gone', a), ...mark('added', b)]
  const common = lengths(a, b)
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [was, is] = [a[i], b[j]]
    if (was !== undefined && was === is) {
      lines.push({ kind: 'same', text: was })
      i++
      j++
    } else if (is === undefined || (was !== undefined && at(common, i + 1, j) >= at(common, i, j + 1))) {
      lines.push({ kind: 'gone', text: was ?? '' })
      i++
    } else {
      lines.push({ kind: 'added', text: is })
      j++
    }
  }
  return lines
}

const mark = (kind: DiffLine['kind'], lines: string[]): DiffLine[] => lines.map((text) => ({ kind, text }))

/** How many lines the rests from i and j have in common, for every i and j. */
function lengths(a: string[], b: string[]): number[][] {
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
