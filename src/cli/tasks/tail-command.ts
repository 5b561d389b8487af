import { type CliCommand, stringOption, commandArg } from '../shell/command.ts'
import { usageError } from '../shell/failure.ts'
import { followTask } from './follow-task.ts'
import { showTaskResult, noteLostConnection, runUntilInterrupted } from './run-command.ts'
import { createTimeline } from './timeline.ts'

export const tailTaskCommand: CliCommand = {
  name: 'tail',
  usage: 'TASK [--after EVENT]',
  summary: "show a task's log from the start, live to its end",
  details: 'Ends with the code of the task. --after leaves out the events up to that number.',
  options: { after: { type: 'string' } },
  argCount: [1, 1],
  async run(call) {
    const { context: shell } = call
    const after = Number(stringOption(call, 'after') ?? 0)
    if (!Number.isSafeInteger(after) || after < 0) throw usageError('--after must be the number of an event')
    const id = commandArg(call, 0)
    // Asked for first, so that a wrong id or address is told at once and not taken for a lost connection.
    await shell.service.call('GET', `/v1/tasks/${encodeURIComponent(id)}`)
    return runUntilInterrupted(shell, id, async () => {
      const show = createTimeline(shell.terminal)
      for await (const event of followTask(shell.service, id, { after, onLost: () => noteLostConnection(shell) }))
        show(event)
      return showTaskResult(shell, id)
    })
  },
}
