import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../platform/base/json.ts'
import { errorMessage } from '../../../platform/base/error-message.ts'
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
  usage: 'WEDGE TYPE [--input FILE|-|JSON] [--files ID,…] [--detach]',
  summary: 'create a task, watch it, and decide its approvals',
  details: (
    svc,
  ) => `When the task needs an approval, type a to approve, e to edit the payload (in $VISUAL or $EDITOR, else as one line
of JSON) or r to reject, which ends the task. A question of the agent asks for the answer. You can pipe the answers in, one per line, unless --input - reads stdin.
An approval that is not answered here can be decided with \`${svc} approvals\`.
--files gives the task files that were uploaded before, by their ids.
--detach prints the id of the task and returns at once. Ctrl-C stops watching; the task continues.
With --json: the events as JSON lines, then {"type":"task","data":{…}}.`,
  options: { input: { type: 'string' }, files: { type: 'string' }, detach: { type: 'boolean' } },
  argCount: [2, 2],
  async run(call) {
    const { terminal, service } = call.context
    const body = await readTaskBody(call)
    // Prevents a second task if the request is repeated after a broken connection.
    const task = await service.call('POST', '/v1/tasks', body, { 'idempotency-key': randomUUID() })
    if (!call.options.detach) return watchTask(call.context, toText(task.id), stringOption(call, 'input') !== '-')
    showDetachedTask(terminal, task)
    return EXIT_CODE.ok
  },
}

/** Follows a new task to its end. `canAsk` is false if stdin cannot answer approvals. */
export async function watchTask(context: CommandContext, taskId: string, canAsk: boolean): Promise<number> {
  const { terminal } = context
  if (!terminal.isJson) terminal.note(terminal.styled('dim', `task ${taskId}`))
  return runUntilInterrupted(context, taskId, async () => {
    await followAndDecide(context, taskId, canAsk)
    return showTaskResult(context, taskId)
  })
}

export function showDetachedTask(terminal: Terminal, task: JsonObject): void {
  if (terminal.isJson) terminal.printJson({ type: 'task', data: task })
  else terminal.print(toText(task.id))
}

/** Ctrl-C stops watching but not the task, so the hint says how to cancel it. */
export async function runUntilInterrupted(
  context: CommandContext,
  taskId: string,
  work: () => Promise<number>,
): Promise<number> {
  const { programName: svc, terminal } = context
  const onInterrupt = () => {
    terminal.note(
      `\nthe task continues; watch it with \`${svc} tail ${taskId}\`, cancel it with \`${svc} cancel ${taskId}\``,
    )
    process.exit(EXIT_CODE.interrupted)
  }
  process.once('SIGINT', onInterrupt)
  return work().finally(() => process.off('SIGINT', onInterrupt))
}

async function readTaskBody(call: CommandCall): Promise<JsonObject> {
  const option = stringOption(call, 'input')
  const input = option === undefined ? {} : { input: await readJsonOption('--input', option) }
  const ids = stringOption(call, 'files')
  const files = ids === undefined ? {} : { files: ids.split(',').map((id) => id.trim()) }
  return { wedge: commandArg(call, 0), task_type: commandArg(call, 1), ...input, ...files }
}

/** Shows events while it asks. A question is withdrawn when its approval is decided elsewhere or the task ends. */
async function followAndDecide(context: CommandContext, taskId: string, canAsk: boolean): Promise<void> {
  const showEvent = createTimeline(context.terminal)
  const questions = new Map<string, AbortController>()
  let asking = Promise.resolve()
  for await (const event of followTask(context.service, taskId, { onLost: () => reportLostConnection(context) })) {
    showEvent(event)
    const approvalId = toText(event.data.approval_id)
    if (event.type === 'approval.requested' && canAsk) {
      const question = new AbortController()
      questions.set(approvalId, question)
      asking = asking
        .then(() => askForDecision(context, approvalId, question.signal))
        .catch((error) => reportUndecided(context, error))
    }
    if (event.type === 'approval.requested' && !canAsk)
      showHowToDecide(context, approvalId, event.data.to !== undefined)
    if (event.type === 'approval.resolved') questions.get(approvalId)?.abort()
  }
  for (const question of questions.values()) question.abort()
  await asking
}

export function reportLostConnection({ terminal }: CommandContext): void {
  terminal.note(terminal.styled('dim', 'connection lost; reconnecting'))
}

function reportUndecided({ programName: svc, terminal }: CommandContext, error: unknown): void {
  terminal.note(`the approval was not decided here: ${errorMessage(error)}`)
  if (error instanceof CommandFailure && error.advice) terminal.note(adviceText(error.advice, svc))
}

/** Prints the output of a finished task and returns its exit code. */
export async function showTaskResult({ terminal, service }: CommandContext, taskId: string): Promise<number> {
  const task = await service.call('GET', `/v1/tasks/${encodeURIComponent(taskId)}`)
  if (terminal.isJson) terminal.printJson({ type: 'task', data: task })
  else if (task.status === 'succeeded') terminal.print(toPrintableJson(task.output))
  return exitCodeOfTask(toText(task.status))
}
