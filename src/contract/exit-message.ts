const MAX_STDERR_LINES = 5
const MAX_STDERR_CHARACTERS = 1000

/**
 * The sentence on an agent that gave no output, with what it complained of last. A sandbox holds no credential but the
 * token of its own run, which is dead by then, so there is nothing in it to hide.
 */
export function exitMessage(how: string, stderr: string): string {
  const complaint = lastLines(stderr)
  return `the agent ended without an output (${how})${complaint ? `: ${complaint}` : ''}`
}

/** Short, and with nothing in it that cannot be stored. */
function lastLines(stderr: string): string {
  const lines = stderr
    .replaceAll(/[^\P{Cc}\n]+/gu, ' ')
    .trim()
    .split('\n')
    .slice(-MAX_STDERR_LINES)
  const words = lines.map((line) => line.trimEnd()).join('\n')
  if (words.length <= MAX_STDERR_CHARACTERS) return words
  // Not half of a character.
  return `…${words.slice(-MAX_STDERR_CHARACTERS).replace(/^[\uDC00-\uDFFF]/, '')}`
}
