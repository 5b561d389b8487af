import { join, relative } from 'node:path'
import { checkWedge } from './check-wedge.ts'
import type { CliCommand } from '../shell/command.ts'
import { EXIT_CODE } from '../shell/failure.ts'
import type { Terminal } from '../shell/terminal.ts'
import type { WedgeFinding } from './findings.ts'
import { findWedgeFolders } from './wedge-folders.ts'

export const checkWedgeCommand: CliCommand = {
  name: 'wedge check',
  usage: '[DIR|WEDGE]',
  summary: 'find the errors in a wedge, with file and line, without the service',
  details: `Checks one wedge, or all wedges in a folder. Without an argument: the wedge in the current folder, else all wedges in
SVC_WEDGES_DIR. The exit code is 1 if there is an error. Warnings do not count.
SVC_APPROVAL_TTL_MAX_S is the highest ttl_s that is allowed, SVC_AGENT_MAX_MEMORY_MB the highest memory_mb.`,
  argCount: [0, 1],
  async run(call) {
    const { terminal, env } = call.context
    let errors = 0
    for (const folder of findWedgeFolders(env, call.args[0])) {
      errors += reportFindings(terminal, await checkWedge(env, folder), folder)
    }
    return errors === 0 ? EXIT_CODE.ok : EXIT_CODE.failed
  },
}

/** Prints the findings and returns the number of errors. */
function reportFindings(terminal: Terminal, findings: WedgeFinding[], folder: string): number {
  const shown = relative('', folder) || '.'
  for (const { level, file, line, message } of findings) {
    const path = join(shown, file)
    if (terminal.isJson) terminal.printJson({ level, file: path, line, message })
    else terminal.print(`${path}:${line}: ${terminal.styled(level === 'error' ? 'red' : 'yellow', level)}: ${message}`)
  }
  const errors = findings.filter(({ level }) => level === 'error').length
  if (!terminal.isJson) {
    const verdict =
      errors === 0 ? terminal.styled('green', '✓ no errors') : `✗ ${errors} error${errors === 1 ? '' : 's'}`
    terminal.note(`${shown}: ${verdict}`)
  }
  return errors
}
