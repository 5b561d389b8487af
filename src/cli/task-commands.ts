import { type Command, word } from './command.ts'
import { EXIT } from './failure.ts'
import { tellDetached, watchTask } from './run.ts'
import { textOf } from './table.ts'

export const cancel: Command = {
  name: 'cancel',
  usage: 'TASK',
  summary: 'end a task that is not over; what it asked approval for is not done',
  words: [1, 1],
  async run(call) {
    const { terminal, service } = call.shell
    const answer = await service.call('POST', `${pathOf(word(call, 0))}/cancel`, {})
    if (terminal.json) terminal.tell(answer)
    else terminal.say(`${word(call, 0)} ${textOf(answer.status)}`)
    return EXIT.ok
  },
}

export const retry: Command = {
  name: 'retry',
  usage: 'TASK [--detach]',
  summary: 'run a finished task again as a new one, and watch it as run does',
  options: { detach: { type: 'boolean' } },
  words: [1, 1],
  async run(call) {
    const { terminal, service } = call.shell
    const task = await service.call('POST', `${pathOf(word(call, 0))}/retry`, {})
    if (!call.options.detach) return watchTask(call.shell, textOf(task.id), true)
    tellDetached(terminal, task)
    return EXIT.ok
  },
}

const pathOf = (taskId: string) => `/v1/tasks/${encodeURIComponent(taskId)}`
