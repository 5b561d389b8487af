/** Returns the known name that is at most two typing errors away, and fewer than the given name has letters. */
export function closestName(given: string, known: readonly string[]): string | null {
  const scored = known.map((name) => ({ name, distance: editDistance(given.toLowerCase(), name.toLowerCase()) }))
  const best = scored.toSorted((a, b) => a.distance - b.distance)[0]
  return best && best.distance <= Math.min(2, given.length - 1) ? best.name : null
}

/** The Levenshtein distance: how many letters must be changed, added or removed. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of a.split('').entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const change = (row[j] ?? 0) + (letter === b[j] ? 0 : 1)
      next.push(Math.min(change, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
