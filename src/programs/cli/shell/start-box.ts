/** The last lines of the first start, in a box, so that a person does not have to search the log for the key. */
export function formatStartBox(url: string, founderKey: string): string {
  return inBox([
    `Agent Work Service: ${url}`,
    '',
    'Founder key, shown only once. Save it:',
    `  ${founderKey}`,
    '',
    'Sign in to the console with this link:',
    `  ${url}/#key=${founderKey}`,
    '',
    'For the other commands:',
    `  export SVC_KEY=${founderKey}`,
  ])
}

function inBox(lines: string[]): string {
  const width = Math.max(...lines.map((line) => line.length))
  const border = '─'.repeat(width + 2)
  return [`┌${border}┐`, ...lines.map((line) => `│ ${line.padEnd(width)} │`), `└${border}┘`].join('\n')
}
