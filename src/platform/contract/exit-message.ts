const MAX_STDERR_LINES = 5
const MAX_STDERR_CHARACTERS = 1000

/** The line of an error that ended a program, such as `TypeError: …` or `Error [ERR_MODULE_NOT_FOUND]: …`. */
const REASON = /^(?=[^:]*(?:Error|Exception))[\w.]+(?: ?\[\w+\])?: /
/** A line of a stack that is not in the code of the agent: in Node.js or in an installed package. */
const FOREIGN_STACK_LINE = /^ +at .*(?:\bnode:|\/node_modules\/)/
/** A warning of Node.js, Python or the library of Anthropic, which would hide the reason. */
const WARNING =
  /^\(node:\d+\) |^\(Use `node |\b\w*Warning: |^The model '.*' is deprecated |^Please migrate to a newer model/

/**
 * The error for an agent that gave no output, with the end of its standard error. It cannot reveal a valid
 * credential: a sandbox holds only the token of its own run, which is invalid by then.
 */
export function exitMessage(how: string, stderr: string): string {
  // Control characters cannot be stored.
  const lines = stderr
    .replaceAll(/[^\P{Cc}\n]+/gu, ' ')
    .trim()
    .split('\n')
    .map((line) => line.trimEnd())
  const reason = lines.findLastIndex((line) => REASON.test(line))
  const text = reason === -1 ? lastLines(lines) : reasonLines(lines.slice(reason))
  return `the agent ended without an output (${how})${text ? `: ${text}` : ''}`
}

/** The reason and what follows it: the other lines of its message, where in the agent it happened, its fields. */
function reasonLines(lines: string[]): string {
  const shown = lines.filter((line) => line !== '' && !FOREIGN_STACK_LINE.test(line)).slice(0, MAX_STDERR_LINES)
  const text = shown.join('\n')
  // Does not end with the first half of a surrogate pair.
  const cut = () => `${text.slice(0, MAX_STDERR_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '')}…`
  return text.length <= MAX_STDERR_CHARACTERS ? text : cut()
}

function lastLines(all: string[]): string {
  const reasons = all.filter((line) => !WARNING.test(line))
  const lines = reasons.some((line) => line !== '') ? reasons : all
  const text = lines.slice(-MAX_STDERR_LINES).join('\n')
  if (text.length <= MAX_STDERR_CHARACTERS) return text
  // Does not begin with the second half of a surrogate pair.
  return `…${text.slice(-MAX_STDERR_CHARACTERS).replace(/^[\uDC00-\uDFFF]/, '')}`
}
