import { type CliCommand, commandArg } from '../shell/command.ts'
import { EXIT_CODE } from '../shell/failure.ts'
import { showDetachedTask, watchTask } from './run-command.ts'
import { toText } from '../shell/format.ts'

export const cancelTaskCommand: CliCommand = {
  name: 'cancel',
  usage: 'TASK',
  summary: 'cancel a task that has not finished; its pending actions are not executed',
  argCount: [1, 1],
  async run(call) {
    const { terminal, service } = call.context
    const task = await service.call('POST', `${taskPath(commandArg(call, 0))}/cancel`, {})
    if (terminal.isJson) terminal.printJson(task)
    else terminal.print(`${commandArg(call, 0)} ${toText(task.status)}`)
    return EXIT_CODE.ok
  },
}

export const retryTaskCommand: CliCommand = {
  name: 'retry',
  usage: 'TASK [--detach]',
  summary: 'run a finished task again as a new task, and watch it',
  options: { detach: { type: 'boolean' } },
  argCount: [1, 1],
  async run(call) {
    const { terminal, service } = call.context
    const task = await service.call('POST', `${taskPath(commandArg(call, 0))}/retry`, {})
    if (!call.options.detach) return watchTask(call.context, toText(task.id), true)
    showDetachedTask(terminal, task)
    return EXIT_CODE.ok
  },
}

const taskPath = (taskId: string) => `/v1/tasks/${encodeURIComponent(taskId)}`
