import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { errorMessage } from '../../base/error-message.ts'
import { isSlug } from '../../base/slug.ts'
import { resolveWedgesDir } from '../../contract/settings.ts'
import { quoteForShell } from '../shell/program-name.ts'
import { type CliCommand, commandArg } from '../shell/command.ts'
import { usageError } from '../shell/failure.ts'
import { starterWedgeFiles } from './starter-wedge.ts'

export const newWedgeCommand: CliCommand = {
  name: 'wedge new',
  usage: 'NAME',
  summary: 'make a small wedge that works at once, to change into your own',
  details: 'Below SVC_WEDGES_DIR, by default ./wedges. A running service finds it by itself.',
  argCount: [1, 1],
  async run(call) {
    const { terminal, env, programName: svc } = call.context
    const name = commandArg(call, 0)
    if (!isSlug(name))
      throw usageError(`'${name}' cannot be a name`, 'use a-z, 0-9, _ and -, and begin with a letter or digit')
    const folder = join(resolveWedgesDir(env), name)
    const files = Object.entries(starterWedgeFiles(name))
    createFolder(folder)
    for (const [file, text] of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
    const shown = relative('', folder)
    if (terminal.isJson) terminal.printJson({ wedge: name, folder, files: files.map(([file]) => file) })
    else {
      for (const [file] of files) terminal.print(join(shown, file))
      const input = quoteForShell(join(shown, 'rehearsals/answer.input.json'))
      terminal.note(`next: ${svc} wedge check ${quoteForShell(shown)}, ${svc} wedge rehearse ${name}`)
      terminal.note(`then: ${svc} run ${name} answer --input ${input}`)
    }
    return 0
  },
}

function createFolder(folder: string): void {
  mkdirSync(dirname(folder), { recursive: true })
  try {
    mkdirSync(folder)
  } catch (error) {
    throw usageError(
      `cannot make the folder '${folder}': ${errorMessage(error)}`,
      'take another name, or remove what is there',
    )
  }
}
