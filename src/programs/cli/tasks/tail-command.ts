import { type CliCommand, stringOption, commandArg } from '../shell/command.ts'
import { usageError } from '../shell/failure.ts'
import { followTask } from './follow-task.ts'
import { showTaskResult, reportLostConnection, runUntilInterrupted } from './run-command.ts'
import { createTimeline } from './timeline.ts'

export const tailTaskCommand: CliCommand = {
  name: 'tail',
  usage: 'TASK [--after EVENT]',
  summary: 'show the log of a task from the start, and follow it to the end',
  details: 'The exit code is that of the task. --after skips the events up to that number.',
  options: { after: { type: 'string' } },
  argCount: [1, 1],
  async run(call) {
    const { context } = call
    const after = Number(stringOption(call, 'after') ?? 0)
    if (!Number.isSafeInteger(after) || after < 0) throw usageError('option --after must be the number of an event')
    const id = commandArg(call, 0)
    // Reports a wrong id or URL at once, which would otherwise be retried as a lost connection.
    await context.service.call('GET', `/v1/tasks/${encodeURIComponent(id)}`)
    return runUntilInterrupted(context, id, async () => {
      const showEvent = createTimeline(context.terminal)
      const onLost = () => reportLostConnection(context)
      for await (const event of followTask(context.service, id, { after, onLost })) showEvent(event)
      return showTaskResult(context, id)
    })
  },
}
