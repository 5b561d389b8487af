import { objectField, objectListField } from '../../../platform/base/json-fields.ts'
import { isJsonObject, type Json, type JsonObject } from '../../../platform/base/json.ts'
import { formatTime, throughConnection, toPrintable, toShortText, toText } from '../shell/format.ts'
import type { Terminal } from '../shell/terminal.ts'

/** The lines of an approval: what it would do, for whom, and what a person needs to decide. */
export function approvalCard(terminal: Terminal, approval: JsonObject): string[] {
  const { action, risk, expires_at } = approval
  const what = approval.status === 'pending' ? pendingText(approval) : 'asked to send'
  const expiry = typeof expires_at === 'string' ? `, expires ${formatTime(expires_at)} UTC` : ''
  const head = `${toShortText(action)}${throughConnection(approval)} (risk ${toShortText(risk)}${expiry}) ${what}:`
  return [
    ...(typeof approval.text === 'string' ? [terminal.styled('bold', toShortText(approval.text, 200))] : []),
    ...contextLines(terminal, approval),
    terminal.styled('yellow', head),
    toPrintable(JSON.stringify(currentPayload(approval), null, 2)),
  ]
}

/** The agent makes a tool call itself, so only the payload of an action is what will be sent. */
const pendingText = ({ path }: JsonObject): string => (path === 'tool' ? 'the agent asks to do' : 'will send')

/** The payload as it is now: an earlier approver may have edited it. */
export function currentPayload({ preview = null, edited }: JsonObject): Json {
  return isJsonObject(preview) && isJsonObject(edited) ? { ...preview, ...edited } : preview
}

/** What the request is about. */
export function contextLines(terminal: Terminal, approval: JsonObject): string[] {
  const context = objectField(approval, 'context')
  const client = objectField(context, 'client')
  const message = objectField(context, 'message')
  const customer = toShortText(client.name ?? client.id ?? 'the customer')
  const lines = [
    ...(typeof message.body === 'string' ? [`${customer} wrote: ${toShortText(message.body, 500)}`] : []),
    ...(typeof context.case_id === 'string' ? [`case: ${toShortText(context.case_id)}`] : []),
    ...objectListField(approval, 'steps').map(({ text }) => `agent: ${toShortText(text, 160)}`),
    ...objectListField(approval, 'history').map((past) => `before: ${pastDecision(past)}`),
    ...(typeof approval.rule === 'string' && approval.rule !== '' ? [`why: ${toShortText(approval.rule, 300)}`] : []),
    ...objectListField(approval, 'files').map(({ id, name }) => `file: ${toShortText(name)} (${toShortText(id)})`),
    ...voteLines(approval),
  ]
  return lines.map((line) => terminal.styled('dim', line))
}

function pastDecision(past: JsonObject): string {
  const edited = past.edited === true ? ' with edits' : ''
  const reason = typeof past.reason === 'string' ? `: ${toShortText(past.reason, 100)}` : ''
  return `${toShortText(past.text ?? past.approval_id, 100)} ${toText(past.status)}${edited}${decidedBy(past)}${reason}`
}

/** ` by Ada`, or nothing if the decision has no name. */
export function decidedBy(decision: JsonObject): string {
  const { name } = objectField(decision, 'decided_by')
  return typeof name === 'string' ? ` by ${toShortText(name)}` : ''
}

function voteLines(approval: JsonObject): string[] {
  const { needed } = approval
  const assignee = objectField(approval, 'assignee').name
  return [
    ...(typeof needed === 'number' && needed > 1 ? [voteText(approval), ...waitsForLines(approval)] : []),
    ...(typeof assignee === 'string' ? [`assigned to ${toShortText(assignee)}`] : []),
  ]
}

function waitsForLines(approval: JsonObject): string[] {
  const names = objectListField(approval, 'waits_for').map(({ name }) => toShortText(name))
  return names.length > 0 ? [`can still approve: ${names.join(', ')}`] : []
}

/** `1 of 2 approved: Ada`. */
export function voteText(approval: JsonObject): string {
  const names = objectListField(approval, 'votes').map((vote) => {
    const { name, id } = objectField(vote, 'by')
    return toShortText(name ?? id)
  })
  return `${names.length} of ${toText(approval.needed)} approved${names.length > 0 ? `: ${names.join(', ')}` : ''}`
}
