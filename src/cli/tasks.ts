import { type Call, type Command, textOption } from './command.ts'
import { misused } from './failure.ts'
import { moment, short, showTable } from './table.ts'

export const tasks: Command = {
  name: 'tasks',
  usage: '[--status STATUS] [--wedge WEDGE] [--limit N]',
  summary: 'list tasks, newest first',
  options: { status: { type: 'string' }, wedge: { type: 'string' }, limit: { type: 'string' } },
  words: [0, 0],
  async run(call) {
    const { terminal, service } = call.shell
    const query = { status: textOption(call, 'status'), wedge: textOption(call, 'wedge') }
    const found = await service.list('/v1/tasks', query, limitOf(call))
    if (terminal.json) for (const task of found) terminal.tell(task)
    else {
      const rows = found.map(({ id, status, wedge, task_type, created_at, cost_usd }) =>
        [id, status, `${short(wedge)}/${short(task_type)}`, moment(created_at), cost_usd].map((cell) => short(cell)),
      )
      showTable(terminal, ['TASK', 'STATUS', 'WORK', 'CREATED (UTC)', 'COST USD'], rows, 'no tasks')
    }
    return 0
  },
}

export function limitOf(call: Call): number {
  const limit = Number(textOption(call, 'limit') ?? 50)
  if (!Number.isSafeInteger(limit) || limit < 1) throw misused('--limit must be a whole number of at least 1')
  return limit
}
