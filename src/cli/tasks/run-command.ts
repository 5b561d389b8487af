import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../base/json.ts'
import { errorMessage } from '../../base/error-message.ts'
import { adviceText } from '../shell/program-name.ts'
import { type CommandCall, type CliCommand, type CommandContext, stringOption, commandArg } from '../shell/command.ts'
import { askForDecision, showHowToDecide } from './decide-inline.ts'
import { EXIT_CODE, exitCodeOfTask, CommandFailure } from '../shell/failure.ts'
import { followTask } from './follow-task.ts'
import { readJsonOption } from '../shell/json-option.ts'
import { toPrintableJson, toText } from '../shell/format.ts'
import type { Terminal } from '../shell/terminal.ts'
import { createTimeline } from './timeline.ts'

export const runTaskCommand: CliCommand = {
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
  argCount: [2, 2],
  async run(call) {
    const { terminal, service } = call.context
    const body = await readTaskBody(call)
    // A repeated request that crossed a broken connection makes no second task.
    const task = await service.call('POST', '/v1/tasks', body, { 'idempotency-key': randomUUID() })
    if (!call.options.detach) return watchTask(call.context, toText(task.id), stringOption(call, 'input') !== '-')
    showDetachedTask(terminal, task)
    return EXIT_CODE.ok
  },
}

/** A task that was just created, to its end; `asks` when its approvals may be decided here. */
export async function watchTask(shell: CommandContext, taskId: string, asks: boolean): Promise<number> {
  const { terminal } = shell
  if (!terminal.isJson) terminal.note(terminal.styled('dim', `task ${taskId}`))
  return runUntilInterrupted(shell, taskId, async () => {
    await followAndDecide(shell, taskId, asks)
    return showTaskResult(shell, taskId)
  })
}

export function showDetachedTask(terminal: Terminal, task: JsonObject): void {
  if (terminal.isJson) terminal.printJson({ type: 'task', data: task })
  else terminal.print(toText(task.id))
}

/** Whoever presses ctrl-C stops watching; the task is the service's, and they are told how to end that too. */
export async function runUntilInterrupted(
  shell: CommandContext,
  taskId: string,
  work: () => Promise<number>,
): Promise<number> {
  const { programName: svc, terminal } = shell
  const leave = () => {
    terminal.note(
      `\nthe task goes on; watch it with \`${svc} tail ${taskId}\`, end it with \`${svc} cancel ${taskId}\``,
    )
    process.exit(EXIT_CODE.interrupted)
  }
  process.once('SIGINT', leave)
  return work().finally(() => process.off('SIGINT', leave))
}

async function readTaskBody(call: CommandCall): Promise<JsonObject> {
  const given = stringOption(call, 'input')
  const input = given === undefined ? {} : { input: await readJsonOption('--input', given) }
  return { wedge: commandArg(call, 0), task_type: commandArg(call, 1), ...input }
}

/** The log goes on while a question stands: an answer from elsewhere, or the end of the task, takes it back. */
async function followAndDecide(shell: CommandContext, taskId: string, asks: boolean): Promise<void> {
  const show = createTimeline(shell.terminal)
  const open = new Map<string, AbortController>()
  let asking = Promise.resolve()
  for await (const event of followTask(shell.service, taskId, { onLost: () => noteLostConnection(shell) })) {
    show(event)
    const approvalId = toText(event.data.approval_id)
    if (event.type === 'approval.requested' && asks) {
      const moot = new AbortController()
      open.set(approvalId, moot)
      asking = asking
        .then(() => askForDecision(shell, approvalId, moot.signal))
        .catch((error) => noteUndecided(shell, error))
    }
    if (event.type === 'approval.requested' && !asks) showHowToDecide(shell, approvalId)
    if (event.type === 'approval.resolved') open.get(approvalId)?.abort()
  }
  for (const moot of open.values()) moot.abort()
  await asking
}

export function noteLostConnection({ terminal }: CommandContext): void {
  terminal.note(terminal.styled('dim', 'the connection is lost; trying again'))
}

function noteUndecided({ programName: svc, terminal }: CommandContext, error: unknown): void {
  terminal.note(`not decided here: ${errorMessage(error)}`)
  if (error instanceof CommandFailure && error.advice) terminal.note(adviceText(error.advice, svc))
}

/** Shows what came out, and says by the code how it ended. */
export async function showTaskResult({ terminal, service }: CommandContext, taskId: string): Promise<number> {
  const task = await service.call('GET', `/v1/tasks/${encodeURIComponent(taskId)}`)
  if (terminal.isJson) terminal.printJson({ type: 'task', data: task })
  else if (task.status === 'succeeded') terminal.print(toPrintableJson(task.output))
  return exitCodeOfTask(toText(task.status))
}
