import { isJsonObject, type Json, type JsonObject } from '../../../platform/base/json.ts'
import { type CliCommand, stringOption, commandArg } from '../shell/command.ts'
import { answerWithLine } from './answer-question.ts'
import { currentPayload, voteText } from './approval-card.ts'
import { askForDecision } from './decide-inline.ts'
import { editPayload, findEditor } from './edit-payload.ts'
import { EXIT_CODE, commandFailed, usageError } from '../shell/failure.ts'
import { readObjectOption } from '../shell/json-option.ts'
import { approvalPath, type ServiceClient } from '../shell/service-client.ts'
import { formatTime, toShortText, toText, showTable } from '../shell/format.ts'
import { limitOption } from './list-command.ts'

export const listApprovalsCommand: CliCommand = {
  name: 'approvals',
  usage: '[--status STATUS|all] [--task TASK] [--wedge WEDGE] [--limit N]',
  summary: 'list pending approvals, or those with another status',
  options: {
    status: { type: 'string' },
    task: { type: 'string' },
    wedge: { type: 'string' },
    limit: { type: 'string' },
  },
  argCount: [0, 0],
  async run(call) {
    const { terminal, service } = call.context
    const wanted = stringOption(call, 'status') ?? 'pending'
    const status = wanted === 'all' ? undefined : wanted
    const query = { status, task_id: stringOption(call, 'task'), wedge: stringOption(call, 'wedge') }
    const approvals = await service.list('/v1/approvals', query, limitOption(call))
    if (terminal.isJson) for (const approval of approvals) terminal.printJson(approval)
    else {
      const rows = approvals.map(
        ({ approval_id, status, revise, action, connection, connection_id, risk, expires_at, context, ...rest }) =>
          [
            approval_id,
            revise === true ? 'sent back' : status,
            rest.to ? `question to the ${toText(rest.to)}` : action,
            connection ?? connection_id ?? '-',
            risk,
            formatTime(expires_at),
            clientName(context),
            rest.to && isJsonObject(rest.preview) ? rest.preview.question : (rest.text ?? rest.preview),
          ].map((cell) => toShortText(cell, 60)),
      )
      const heading = ['APPROVAL', 'STATUS', 'ACTION', 'CONNECTION', 'RISK', 'EXPIRES (UTC)', 'CLIENT', 'WHAT']
      showTable(terminal, heading, rows, status === 'pending' ? 'no pending approvals' : 'no approvals')
    }
    return EXIT_CODE.ok
  },
}

const clientName = (context: Json | undefined): Json =>
  isJsonObject(context) && isJsonObject(context.client) ? (context.client.name ?? context.client.id ?? '-') : '-'

export const approveCommand: CliCommand = {
  name: 'approvals approve',
  usage: 'APPROVAL [--edit FILE|-|JSON] [--note TEXT]',
  summary: 'approve; fields given with --edit replace those of the payload',
  options: { edit: { type: 'string' }, note: { type: 'string' } },
  argCount: [1, 1],
  async run(call) {
    const { terminal, service } = call.context
    const edit = stringOption(call, 'edit')
    const note = stringOption(call, 'note')
    const edited = edit === undefined ? {} : { edited: await readObjectOption('--edit', edit) }
    if (edit !== undefined) await requireEditable(service, commandArg(call, 0))
    const decision = await service.call('POST', `${approvalPath(commandArg(call, 0))}/approve`, {
      ...edited,
      ...(note && { note }),
    })
    if (terminal.isJson) terminal.printJson(decision)
    else terminal.print(`${commandArg(call, 0)} ${decision.decision === 'pending' ? voteText(decision) : 'approved'}`)
    return EXIT_CODE.ok
  },
}

export const editApprovalCommand: CliCommand = {
  name: 'approvals edit',
  usage: 'APPROVAL [--note TEXT]',
  summary: 'edit the payload in $VISUAL or $EDITOR, then approve it',
  details: 'Nothing is decided if the file is not changed or the editor fails.',
  options: { note: { type: 'string' } },
  argCount: [1, 1],
  async run(call) {
    const { service, env, terminal } = call.context
    const id = commandArg(call, 0)
    const editor = findEditor(env)
    if (!editor)
      throw usageError(
        'neither VISUAL nor EDITOR is set',
        (svc) => `set one, or run: ${svc} approvals approve ${id} --edit JSON`,
      )
    const approval = await requireEditable(service, id)
    if (approval.path === 'question')
      throw commandFailed('this is a question', (svc) => `answer it: ${svc} approvals answer ${id}`)
    if (approval.status !== 'pending') throw commandFailed(`approval already decided (${toText(approval.status)})`)
    const edited = editPayload(editor, currentPayload(approval))
    if (!edited)
      throw commandFailed(
        'the payload was not changed, so nothing was decided',
        (svc) => `to approve it unchanged: ${svc} approvals approve ${id}`,
      )
    const note = stringOption(call, 'note')
    const body = { edited, payload_sha256: approval.payload_sha256 ?? null, ...(note && { note }) }
    const decision = await service.call('POST', `${approvalPath(id)}/approve`, body)
    const outcome = decision.decision === 'pending' ? voteText(decision) : 'approved'
    if (terminal.isJson) terminal.printJson(decision)
    else terminal.print(`${id} ${outcome} with edits: ${Object.keys(edited).join(', ')}`)
    return EXIT_CODE.ok
  },
}

/** The service ignores the edit of a payload that cannot be edited and would send the original. */
async function requireEditable(service: ServiceClient, id: string): Promise<JsonObject> {
  const approval = await service.call('GET', approvalPath(id))
  const { status, allowed_decisions: allowed } = approval
  // The service refuses an approval that is already decided, with a better message.
  if (status !== 'pending' || (Array.isArray(allowed) && allowed.includes('edit'))) return approval
  const choices = (svc: string) => `${svc} approvals approve ${id}, or ${svc} approvals reject ${id}`
  throw commandFailed('this payload cannot be edited', choices)
}

export const answerCommand: CliCommand = {
  name: 'approvals answer',
  usage: 'APPROVAL [ANSWER]',
  summary: 'answer a question of an agent',
  details: (svc) =>
    `ANSWER is text, the number or text of an option, or JSON for a question with a form. Without it you are asked.
To decline: ${svc} approvals reject APPROVAL. The task then continues without an answer.`,
  options: {},
  argCount: [1, 2],
  async run(call) {
    const { context, args } = call
    const { service, terminal } = context
    const id = commandArg(call, 0)
    const approval = await service.call('GET', approvalPath(id))
    if (approval.path !== 'question')
      throw commandFailed('this approval is not a question', (svc) => `${svc} approvals approve ${id}`)
    if (approval.status !== 'pending') throw commandFailed(`question already decided (${toText(approval.status)})`)
    if (args[1] === undefined) await askForDecision(context, id, new AbortController().signal)
    else await answerWithLine(context, approval, commandArg(call, 1))
    const { status } = await service.call('GET', approvalPath(id))
    if (terminal.isJson) terminal.printJson({ approval_id: id, status: status ?? null })
    else if (status !== 'pending') terminal.print(`${id} ${status === 'approved' ? 'answered' : toText(status)}`)
    return status === 'pending' ? EXIT_CODE.failed : EXIT_CODE.ok
  },
}

export const rejectCommand: CliCommand = {
  name: 'approvals reject',
  usage: 'APPROVAL [--reason TEXT]',
  summary: 'reject, which ends the task; a question gets no answer, and its task continues',
  options: { reason: { type: 'string' } },
  argCount: [1, 1],
  async run(call) {
    const { terminal, service } = call.context
    const reason = stringOption(call, 'reason')
    const decision = await service.call('POST', `${approvalPath(commandArg(call, 0))}/reject`, {
      ...(reason && { reason }),
    })
    if (terminal.isJson) terminal.printJson(decision)
    else terminal.print(`${commandArg(call, 0)} rejected`)
    return EXIT_CODE.ok
  },
}

export const reviseCommand: CliCommand = {
  name: 'approvals revise',
  usage: 'APPROVAL NOTE',
  summary: 'send a request back with a note; the task continues, and its agent may ask again',
  options: {},
  argCount: [2, 2],
  async run(call) {
    const { terminal, service } = call.context
    const id = commandArg(call, 0)
    const decision = await service.call('POST', `${approvalPath(id)}/revise`, { note: commandArg(call, 1) })
    if (terminal.isJson) terminal.printJson(decision)
    else terminal.print(`${id} sent back`)
    return EXIT_CODE.ok
  },
}
