import { type CommandCall, type CliCommand, stringOption } from '../shell/command.ts'
import { EXIT_CODE, usageError } from '../shell/failure.ts'
import { formatTime, toShortText, showTable } from '../shell/format.ts'

export const listTasksCommand: CliCommand = {
  name: 'tasks',
  usage: '[--status STATUS] [--wedge WEDGE] [--limit N]',
  summary: 'list tasks, newest first',
  options: { status: { type: 'string' }, wedge: { type: 'string' }, limit: { type: 'string' } },
  argCount: [0, 0],
  async run(call) {
    const { terminal, service } = call.context
    const query = { status: stringOption(call, 'status'), wedge: stringOption(call, 'wedge') }
    const tasks = await service.list('/v1/tasks', query, limitOption(call))
    if (terminal.isJson) for (const task of tasks) terminal.printJson(task)
    else {
      const rows = tasks.map(({ id, status, wedge, task_type, created_at, cost_usd }) =>
        [id, status, `${toShortText(wedge)}/${toShortText(task_type)}`, formatTime(created_at), cost_usd].map((cell) =>
          toShortText(cell),
        ),
      )
      showTable(terminal, ['TASK', 'STATUS', 'WEDGE/TYPE', 'CREATED (UTC)', 'COST USD'], rows, 'no tasks')
    }
    return EXIT_CODE.ok
  },
}

export function limitOption(call: CommandCall): number {
  const limit = Number(stringOption(call, 'limit') ?? 50)
  if (!Number.isSafeInteger(limit) || limit < 1) throw usageError('option --limit must be a whole number of at least 1')
  return limit
}
