const MOST_LINES = 5
const MOST_CHARACTERS = 1000

/**
 * The sentence on an agent that gave no output, with what it complained of last. A sandbox holds no credential but the
 * token of its own run, which is dead by then, so there is nothing in it to hide.
 */
export function silentEnd(how: string, stderr: string): string {
  const complaint = lastWords(stderr)
  return `the agent ended without an output (${how})${complaint ? `: ${complaint}` : ''}`
}

/** Short, and with nothing in it that cannot be stored. */
function lastWords(stderr: string): string {
  const lines = stderr
    .replaceAll(/[^\P{Cc}\n]+/gu, ' ')
    .trim()
    .split('\n')
    .slice(-MOST_LINES)
  const words = lines.map((line) => line.trimEnd()).join('\n')
  if (words.length <= MOST_CHARACTERS) return words
  // Not half of a character.
  return `…${words.slice(-MOST_CHARACTERS).replace(/^[\uDC00-\uDFFF]/, '')}`
}
