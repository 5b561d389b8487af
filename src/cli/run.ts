import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../base/json.ts'
import { messageOf } from '../base/message-of.ts'
import { advise } from './called-as.ts'
import { type Call, type Command, type Shell, textOption, word } from './command.ts'
import { decideHere, tellWhere } from './decide.ts'
import { EXIT, exitOf, Failure } from './failure.ts'
import { follow } from './follow.ts'
import { givenJson } from './given-json.ts'
import { printableJson, textOf } from './table.ts'
import type { Terminal } from './terminal.ts'
import { timeline } from './timeline.ts'

export const run: Command = {
  name: 'run',
  usage: 'WEDGE TYPE [--input FILE|-|JSON] [--detach]',
  summary: 'create a task, watch it, and decide its approvals here',
  details: (
    svc,
  ) => `Approvals are asked inline: a approves, e edits the payload ($VISUAL or $EDITOR, else a line of JSON), r rejects
and ends the task. Answers may be piped in, one per line, unless --input - reads stdin. Whatever is not answered
here can be decided with \`${svc} approvals\`. --detach prints the task's id and leaves it to itself. Ctrl-C stops
watching; the task goes on.
With --json: the events as JSON lines, then {"type":"task","data":{…}}.`,
  options: { input: { type: 'string' }, detach: { type: 'boolean' } },
  words: [2, 2],
  async run(call) {
    const { terminal, service } = call.shell
    const body = await taskBody(call)
    // A repeated request that crossed a broken connection makes no second task.
    const task = await service.call('POST', '/v1/tasks', body, { 'idempotency-key': randomUUID() })
    if (!call.options.detach) return watchTask(call.shell, textOf(task.id), textOption(call, 'input') !== '-')
    tellDetached(terminal, task)
    return EXIT.ok
  },
}

/** A task that was just created, to its end; `asks` when its approvals may be decided here. */
export async function watchTask(shell: Shell, taskId: string, asks: boolean): Promise<number> {
  const { terminal } = shell
  if (!terminal.json) terminal.note(terminal.paint('dim', `task ${taskId}`))
  return untilInterrupted(shell, taskId, async () => {
    await watch(shell, taskId, asks)
    return conclude(shell, taskId)
  })
}

export function tellDetached(terminal: Terminal, task: JsonObject): void {
  if (terminal.json) terminal.tell({ type: 'task', data: task })
  else terminal.say(textOf(task.id))
}

/** Whoever presses ctrl-C stops watching; the task is the service's, and they are told how to end that too. */
export async function untilInterrupted(shell: Shell, taskId: string, work: () => Promise<number>): Promise<number> {
  const { svc, terminal } = shell
  const leave = () => {
    terminal.note(
      `\nthe task goes on; watch it with \`${svc} tail ${taskId}\`, end it with \`${svc} cancel ${taskId}\``,
    )
    process.exit(EXIT.interrupted)
  }
  process.once('SIGINT', leave)
  return work().finally(() => process.off('SIGINT', leave))
}

async function taskBody(call: Call): Promise<JsonObject> {
  const given = textOption(call, 'input')
  const input = given === undefined ? {} : { input: await givenJson('--input', given) }
  return { wedge: word(call, 0), task_type: word(call, 1), ...input }
}

/** The log goes on while a question stands: an answer from elsewhere, or the end of the task, takes it back. */
async function watch(shell: Shell, taskId: string, asks: boolean): Promise<void> {
  const show = timeline(shell.terminal)
  const open = new Map<string, AbortController>()
  let asking = Promise.resolve()
  for await (const event of follow(shell.service, taskId, { onLost: () => tellLost(shell) })) {
    show(event)
    const approvalId = textOf(event.data.approval_id)
    if (event.type === 'approval.requested' && asks) {
      const moot = new AbortController()
      open.set(approvalId, moot)
      asking = asking.then(() => decideHere(shell, approvalId, moot.signal)).catch((error) => excuse(shell, error))
    }
    if (event.type === 'approval.requested' && !asks) tellWhere(shell, approvalId)
    if (event.type === 'approval.resolved') open.get(approvalId)?.abort()
  }
  for (const moot of open.values()) moot.abort()
  await asking
}

export function tellLost({ terminal }: Shell): void {
  terminal.note(terminal.paint('dim', 'the connection is lost; trying again'))
}

function excuse({ svc, terminal }: Shell, error: unknown): void {
  terminal.note(`not decided here: ${messageOf(error)}`)
  if (error instanceof Failure && error.advice) terminal.note(advise(error.advice, svc))
}

/** Shows what came out, and says by the code how it ended. */
export async function conclude({ terminal, service }: Shell, taskId: string): Promise<number> {
  const task = await service.call('GET', `/v1/tasks/${encodeURIComponent(taskId)}`)
  if (terminal.json) terminal.tell({ type: 'task', data: task })
  else if (task.status === 'succeeded') terminal.say(printableJson(task.output))
  return exitOf(textOf(task.status))
}
