import { join, relative } from 'node:path'
import { checkWedge } from './check-wedge.ts'
import { type Command, word } from './command.ts'
import { EXIT } from './failure.ts'
import type { Terminal } from './terminal.ts'
import { wedgeFolders } from './wedge-folders.ts'

export const check: Command = {
  name: 'wedge check',
  usage: '[DIR|WEDGE]',
  summary: 'find every mistake in a wedge, with file and line, without the service',
  details: `Looks at one wedge, or at all wedges below a folder; by default at this folder or at SVC_WEDGES_DIR.
Ends with 1 when there is an error; warnings alone do not count.`,
  words: [0, 1],
  async run(call) {
    const { terminal, env } = call.shell
    let errors = 0
    for (const folder of wedgeFolders(env, call.words[0] === undefined ? undefined : word(call, 0))) {
      errors += await report(terminal, folder)
    }
    return errors === 0 ? EXIT.ok : EXIT.failed
  },
}

async function report(terminal: Terminal, folder: string): Promise<number> {
  const findings = await checkWedge(folder)
  const shown = relative('', folder) || '.'
  for (const { level, file, line, message } of findings) {
    const path = join(shown, file)
    if (terminal.json) terminal.tell({ level, file: path, line, message })
    else terminal.say(`${path}:${line}: ${terminal.paint(level === 'error' ? 'red' : 'yellow', level)}: ${message}`)
  }
  const errors = findings.filter(({ level }) => level === 'error').length
  if (!terminal.json) {
    const verdict =
      errors === 0 ? terminal.paint('green', '✓ no errors') : `✗ ${errors} error${errors === 1 ? '' : 's'}`
    terminal.note(`${shown}: ${verdict}`)
  }
  return errors
}
