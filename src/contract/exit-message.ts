const MAX_STDERR_LINES = 5
const MAX_STDERR_CHARACTERS = 1000

/**
 * The error for an agent that gave no output, with the last lines of its standard error. They cannot reveal a valid
 * credential: a sandbox holds only the token of its own run, which is invalid by then.
 */
export function exitMessage(how: string, stderr: string): string {
  const lines = lastLines(stderr)
  return `the agent ended without an output (${how})${lines ? `: ${lines}` : ''}`
}

/** Short, and without control characters, which cannot be stored. */
function lastLines(stderr: string): string {
  const lines = stderr
    .replaceAll(/[^\P{Cc}\n]+/gu, ' ')
    .trim()
    .split('\n')
    .slice(-MAX_STDERR_LINES)
  const text = lines.map((line) => line.trimEnd()).join('\n')
  if (text.length <= MAX_STDERR_CHARACTERS) return text
  // Does not begin with the second half of a surrogate pair.
  return `…${text.slice(-MAX_STDERR_CHARACTERS).replace(/^[\uDC00-\uDFFF]/, '')}`
}
