import { isJsonObject, type Json, type JsonObject } from '../../../platform/base/json.ts'
import type { FollowedEvent } from './follow-task.ts'
import { toPrintable, toShortText, toText, throughConnection } from '../shell/format.ts'
import type { TextStyle, Terminal } from '../shell/terminal.ts'

/** Returns a function that prints one line per event, and the text of the model as it arrives. */
export function createTimeline(terminal: Terminal): (event: FollowedEvent) => void {
  if (terminal.isJson) return (event) => terminal.printJson(event.source)
  let isInText = false
  return (event) => {
    if (event.type === 'token.delta') {
      if (!isInText) terminal.write(timePrefix(terminal, event.ts))
      isInText = true
      return terminal.write(
        terminal.styled('dim', toPrintable(toText(event.data.text)).replaceAll('\n', '\n         ')),
      )
    }
    if (isInText) terminal.write('\n')
    isInText = false
    const line = describeEvent(event)
    if (line) terminal.print(timePrefix(terminal, event.ts) + terminal.styled(line.style, `${line.mark} ${line.text}`))
  }
}

const timePrefix = (terminal: Terminal, ts: string) => `${terminal.styled('dim', ts.slice(11, 19))} `

interface TimelineLine {
  mark: string
  text: string
  style: TextStyle
}

function describeEvent({ type, data }: FollowedEvent): TimelineLine | null {
  const field = (name: string) => toShortText(data[name])
  switch (type) {
    case 'task.created':
      return toLine('▶', `${field('wedge')}/${field('task_type')} ${describeStart(data)}`, 'bold')
    case 'step.started':
      return toLine('·', `step ${field('step')}: ${field('label')}`, 'dim')
    case 'tool.called':
      return toLine('→', `${field('tool')} ${field('input')}`, 'cyan')
    case 'tool.result':
      return data.ok === true
        ? toLine('←', `${field('tool')} ${field('output')}`)
        : toLine('✗', `${field('tool')}: ${field('error')}`, 'red')
    case 'progress':
      return toLine('·', field('text'))
    case 'approval.requested':
      if (data.to !== undefined)
        return toLine('?', `question ${field('approval_id')} to the ${field('to')}: ${questionText(data)}`, 'yellow')
      return toLine(
        '?',
        `${describeRequest(data)} needs approval ${field('approval_id')} (risk ${field('risk')})`,
        'yellow',
      )
    case 'approval.resolved':
      return toLine(
        data.decision === 'rejected' ? '✗' : '✓',
        describeDecision(data),
        data.decision === 'rejected' ? 'red' : 'green',
      )
    case 'output.validated':
      return data.ok === true
        ? toLine('✓', 'output matches its schema', 'dim')
        : toLine('✗', `output does not match its schema: ${describeErrors(data.errors)}`, 'red')
    case 'artifact.created':
      return toLine('+', `created ${field('name')} (${field('size')} bytes, artifact ${field('artifact_id')})`, 'dim')
    case 'cost.charged':
      return toLine('$', `${field('cost_usd')} USD, ${field('total_usd')} USD total`, 'dim')
    case 'task.finished':
      return describeEnd(data.status, data.error, data.duration_ms)
    default:
      return toLine('·', `${type} ${toShortText(data)}`, 'dim')
  }
}

const toLine = (mark: string, text: string, style: TextStyle = 'reset'): TimelineLine => ({ mark, text, style })

const describeRequest = (data: FollowedEvent['data']) =>
  typeof data.text === 'string' ? toShortText(data.text, 200) : `${toShortText(data.action)}${throughConnection(data)}`

const questionText = ({ preview }: FollowedEvent['data']) =>
  toShortText(isJsonObject(preview) ? preview.question : undefined, 500)

function describeDecision(data: FollowedEvent['data']): string {
  if (data.to !== undefined) return data.decision === 'approved' ? 'question answered' : 'question not answered'
  if (data.revise === true) return `${toShortText(data.action)} sent back with a note`
  const detail = data.policy_reason ? `: ${toShortText(data.policy_reason)}` : data.edited ? ' with edits' : ''
  return `${toShortText(data.action)} ${toText(data.decision).replace('_', '-')}${detail}`
}

function describeEnd(status: Json | undefined, error: Json | undefined, ms: Json | undefined): TimelineLine {
  const reason = isJsonObject(error) ? `: ${toShortText(error.message, 500)}` : ''
  const isSuccess = status === 'succeeded'
  return {
    mark: isSuccess ? '■' : '✗',
    text: `${toText(status)} after ${Number(ms) / 1000} s${reason}`,
    style: isSuccess ? 'green' : 'red',
  }
}

function describeErrors(errors: Json | undefined): string {
  return (Array.isArray(errors) ? errors : [])
    .filter(isJsonObject)
    .map(({ path, message }) => `${toShortText(path)} ${toShortText(message, 500)}`)
    .join('; ')
}

/** A task that ended in the queue never ran, but its log begins with the same event. */
const describeStart = ({ sandbox, model }: JsonObject): string =>
  sandbox === 'none'
    ? 'ended before it ran'
    : `started · sandbox: ${toShortText(sandbox)} · model: ${toShortText(model)}`
