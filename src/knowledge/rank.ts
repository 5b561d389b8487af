import type { Json } from '../base/json.ts'
import type { NamedText } from '../contract/agent-protocol.ts'

export interface RankCandidate extends NamedText {
  kind: string
  updated_at: string
}

/**
 * The most useful first. Relevance counts most and is relative to the best match; the newest item and a correction
 * each make up for half of it.
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

/** Takes what fits, in order; a smaller text may still fit where a larger one did not. Sizes are bytes of UTF-8. */
export function takeWithinBudget<T extends NamedText>(texts: T[], budget: number): { kept: T[]; left: T[] } {
  const kept: T[] = []
  const left: T[] = []
  let rest = budget
  for (const text of texts) {
    const size = Buffer.byteLength(text.name) + Buffer.byteLength(text.content)
    if (size > rest) left.push(text)
    else {
      kept.push(text)
      rest -= size
    }
  }
  return { kept, left }
}

/** The words that an input says, without the names of its fields. */
export function wordsInInput(input: Json): Set<string> {
  return splitWords(textsIn(input).join(' ').slice(0, 65_536))
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

/** Shorter ones are rarely about anything. */
function splitWords(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [])
}

/** Shared words against the size of both, so a long text does not win by being long. */
function wordOverlap(a: Set<string>, b: Set<string>): number {
  if (a.size === 0 || b.size === 0) return 0
  let shared = 0
  for (const word of a) if (b.has(word)) shared++
  return shared / Math.sqrt(a.size * b.size)
}
