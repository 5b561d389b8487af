import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { messageOf } from '../base/message-of.ts'
import { isSlug } from '../base/names.ts'
import { wedgesDir } from '../base/settings.ts'
import { quoted } from './called-as.ts'
import { type Command, word } from './command.ts'
import { misused } from './failure.ts'
import { scaffold } from './scaffold.ts'

export const newWedge: Command = {
  name: 'wedge new',
  usage: 'NAME',
  summary: 'make a small wedge that works at once, to change into your own',
  details: 'Below SVC_WEDGES_DIR, by default ./wedges. A running service finds it by itself.',
  words: [1, 1],
  async run(call) {
    const { terminal, env, svc } = call.shell
    const name = word(call, 0)
    if (!isSlug(name))
      throw misused(`'${name}' cannot be a name`, 'use a-z, 0-9, _ and -, and begin with a letter or digit')
    const folder = join(wedgesDir(env), name)
    const files = Object.entries(scaffold(name))
    makeFolder(folder)
    for (const [file, text] of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
    const shown = relative('', folder)
    if (terminal.json) terminal.tell({ wedge: name, folder, files: files.map(([file]) => file) })
    else {
      for (const [file] of files) terminal.say(join(shown, file))
      const input = quoted(join(shown, 'rehearsals/answer.input.json'))
      terminal.note(`next: ${svc} wedge check ${quoted(shown)}, ${svc} wedge rehearse ${name}`)
      terminal.note(`then: ${svc} run ${name} answer --input ${input}`)
    }
    return 0
  },
}

function makeFolder(folder: string): void {
  mkdirSync(dirname(folder), { recursive: true })
  try {
    mkdirSync(folder)
  } catch (error) {
    throw misused(
      `cannot make the folder '${folder}': ${messageOf(error)}`,
      'take another name, or remove what is there',
    )
  }
}
