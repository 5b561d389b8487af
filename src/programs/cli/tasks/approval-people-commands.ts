import { objectListField } from '../../../platform/base/json-fields.ts'
import { isJsonObject } from '../../../platform/base/json.ts'
import { type CliCommand, commandArg } from '../shell/command.ts'
import { EXIT_CODE, usageError } from '../shell/failure.ts'
import { formatTime, toPrintable, toShortText, toText } from '../shell/format.ts'
import { approvalPath } from '../shell/service-client.ts'
import { approvalCard, decidedBy } from './approval-card.ts'

export const showApprovalCommand: CliCommand = {
  name: 'approvals show',
  usage: 'APPROVAL',
  summary: 'show an approval with the customer message, what the agent did, earlier decisions and comments',
  options: {},
  argCount: [1, 1],
  async run(call) {
    const { terminal, service } = call.context
    const path = approvalPath(commandArg(call, 0))
    const approval = await service.call('GET', path)
    const comments = (await service.list(`${path}/comments`, {}, MAX_SHOWN_COMMENTS)).toReversed()
    if (terminal.isJson) {
      terminal.printJson({ ...approval, comments })
      return EXIT_CODE.ok
    }
    const state = approval.revise === true ? 'sent back' : toText(approval.status)
    const comment = typeof approval.reason === 'string' ? `: ${toShortText(approval.reason, 300)}` : ''
    terminal.print(`${toShortText(approval.approval_id)} ${state}${decidedBy(approval)}${comment}`)
    for (const line of approvalCard(terminal, approval)) terminal.print(line)
    for (const message of objectListField(approval, 'thread'))
      terminal.print(`${message.direction === 'inbound' ? '<' : '>'} ${toShortText(message.body, 300)}`)
    for (const { author, body, created_at } of comments) {
      const name = isJsonObject(author) ? (author.name ?? author.id) : null
      terminal.print(`${formatTime(created_at)} ${toShortText(name)}: ${toPrintable(toText(body))}`)
    }
    return EXIT_CODE.ok
  },
}

const MAX_SHOWN_COMMENTS = 50

export const assignApprovalCommand: CliCommand = {
  name: 'approvals assign',
  usage: 'APPROVAL MEMBER|me|none',
  summary: 'ask a member, by mail address or id, to decide; other approvers may still decide',
  options: {},
  argCount: [2, 2],
  async run(call) {
    const { terminal, service } = call.context
    const id = commandArg(call, 0)
    const member = commandArg(call, 1)
    const approval = await service.call('PUT', approvalPath(id), { assignee: member === 'none' ? null : member })
    const { assignee } = approval
    if (terminal.isJson) terminal.printJson(approval)
    else terminal.print(`${id} ${isJsonObject(assignee) ? `assigned to ${toShortText(assignee.name)}` : 'unassigned'}`)
    return EXIT_CODE.ok
  },
}

export const commentApprovalCommand: CliCommand = {
  name: 'approvals comment',
  usage: 'APPROVAL TEXT',
  summary: 'comment on an approval; only the team reads comments',
  options: {},
  argCount: [2, 2],
  async run(call) {
    const { terminal, service } = call.context
    const id = commandArg(call, 0)
    const body = commandArg(call, 1)
    if (body.trim() === '') throw usageError('TEXT must not be empty')
    const comment = await service.call('POST', `${approvalPath(id)}/comments`, { body })
    if (terminal.isJson) terminal.printJson(comment)
    else terminal.print(`${id} commented`)
    return EXIT_CODE.ok
  },
}
