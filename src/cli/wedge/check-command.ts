import { join, relative } from 'node:path'
import { checkWedge } from './check-wedge.ts'
import { type CliCommand, commandArg } from '../shell/command.ts'
import { EXIT_CODE } from '../shell/failure.ts'
import type { Terminal } from '../shell/terminal.ts'
import { findWedgeFolders } from './wedge-folders.ts'

export const checkWedgeCommand: CliCommand = {
  name: 'wedge check',
  usage: '[DIR|WEDGE]',
  summary: 'find every mistake in a wedge, with file and line, without the service',
  details: `Looks at one wedge, or at all wedges below a folder; by default at this folder or at SVC_WEDGES_DIR.
Ends with 1 when there is an error; warnings alone do not count.`,
  argCount: [0, 1],
  async run(call) {
    const { terminal, env } = call.context
    let errors = 0
    for (const folder of findWedgeFolders(env, call.args[0] === undefined ? undefined : commandArg(call, 0))) {
      errors += await reportFindings(terminal, folder)
    }
    return errors === 0 ? EXIT_CODE.ok : EXIT_CODE.failed
  },
}

async function reportFindings(terminal: Terminal, folder: string): Promise<number> {
  const findings = await checkWedge(folder)
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
