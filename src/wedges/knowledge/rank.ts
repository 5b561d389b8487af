import type { Json } from '../../platform/base/json.ts'
import type { NamedText } from '../../platform/contract/agent-protocol.ts'

export interface RankCandidate extends NamedText {
  kind: string
  updated_at: string
}

/**
 * Sorts by score, best first: 0 to 2 points for words shared with the task (relative to the best match), 0 to 1 for
 * being new, and 1 for a correction.
 */
export function rankByRelevance<T extends RankCandidate>(items: T[], task: Set<string>): T[] {
  const newest = items.toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : 0))
  const overlaps = newest.map((item) => wordOverlap(task, splitWords(`${item.name} ${item.content}`)))
  const best = Math.max(...overlaps, Number.MIN_VALUE)
  return newest
    .map((item, at) => ({
      item,
      score: (2 * (overlaps[at] ?? 0)) / best + (1 - at / newest.length) + (item.kind === 'correction' ? 1 : 0),
    }))
    .toSorted((a, b) => b.score - a.score)
    .map(({ item }) => item)
}

/** Takes the texts that fit into the budget of bytes, in order; it skips a text that is too large and goes on. */
export function takeWithinBudget<T extends NamedText>(texts: T[], budget: number): { kept: T[]; leftOut: T[] } {
  const kept: T[] = []
  const leftOut: T[] = []
  let bytesLeft = budget
  for (const text of texts) {
    const size = Buffer.byteLength(text.name) + Buffer.byteLength(text.content)
    if (size > bytesLeft) leftOut.push(text)
    else {
      kept.push(text)
      bytesLeft -= size
    }
  }
  return { kept, leftOut }
}

/** The words in the values of an input, without its field names. */
export function wordsInInput(input: Json): Set<string> {
  return splitWords(textsIn(input).join(' ').slice(0, 65_536))
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

/** Words of one or two letters are rarely relevant. */
function splitWords(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [])
}

/** Shared words relative to the size of both sets, so that long texts have no advantage. */
function wordOverlap(a: Set<string>, b: Set<string>): number {
  if (a.size === 0 || b.size === 0) return 0
  let shared = 0
  for (const word of a) if (b.has(word)) shared++
  return shared / Math.sqrt(a.size * b.size)
}
