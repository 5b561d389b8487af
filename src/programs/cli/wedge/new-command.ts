import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { errorMessage } from '../../../platform/base/error-message.ts'
import { isSlug } from '../../../platform/base/text.ts'
import { resolveWedgesDir } from '../../../platform/contract/settings.ts'
import { quoteForShell } from '../shell/program-name.ts'
import { type CliCommand, commandArg } from '../shell/command.ts'
import { EXIT_CODE, usageError } from '../shell/failure.ts'
import { starterWedgeFiles } from './starter-wedge.ts'

export const newWedgeCommand: CliCommand = {
  name: 'wedge new',
  usage: 'NAME',
  summary: 'create a small wedge that works, as a starting point for your own',
  details: 'The wedge is created in SVC_WEDGES_DIR (default: ./wedges). A running service finds it without a restart.',
  argCount: [1, 1],
  async run(call) {
    const { terminal, env, programName: svc } = call.context
    const name = commandArg(call, 0)
    if (!isSlug(name))
      throw usageError(
        `'${name}' is not a valid name for a wedge`,
        'use a-z, 0-9, _ and -, and begin with a letter or digit',
      )
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
    return EXIT_CODE.ok
  },
}

function createFolder(folder: string): void {
  mkdirSync(dirname(folder), { recursive: true })
  try {
    mkdirSync(folder)
  } catch (error) {
    throw usageError(
      `cannot create the folder '${folder}': ${errorMessage(error)}`,
      'choose another name, or remove the existing folder',
    )
  }
}
