import { type Command, textOption, word } from './command.ts'
import { misused } from './failure.ts'
import { follow } from './follow.ts'
import { conclude, tellLost, untilInterrupted } from './run.ts'
import { timeline } from './timeline.ts'

export const tail: Command = {
  name: 'tail',
  usage: 'TASK [--after EVENT]',
  summary: "show a task's log from the start, live to its end",
  details: 'Ends with the code of the task. --after leaves out the events up to that number.',
  options: { after: { type: 'string' } },
  words: [1, 1],
  async run(call) {
    const { shell } = call
    const after = Number(textOption(call, 'after') ?? 0)
    if (!Number.isSafeInteger(after) || after < 0) throw misused('--after must be the number of an event')
    const id = word(call, 0)
    // Asked for first, so that a wrong id or address is told at once and not taken for a lost connection.
    await shell.service.call('GET', `/v1/tasks/${encodeURIComponent(id)}`)
    return untilInterrupted(shell, id, async () => {
      const show = timeline(shell.terminal)
      for await (const event of follow(shell.service, id, { after, onLost: () => tellLost(shell) })) show(event)
      return conclude(shell, id)
    })
  },
}
