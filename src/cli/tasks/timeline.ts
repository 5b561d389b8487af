import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { FollowedEvent } from './follow-task.ts'
import { toPrintable, toShortText, toText, throughConnection } from '../shell/format.ts'
import type { TextStyle, Terminal } from '../shell/terminal.ts'

/** Shows a task's log as it grows: one line per event, and the words of the model as they come. */
export function createTimeline(terminal: Terminal): (event: FollowedEvent) => void {
  if (terminal.isJson) return (event) => terminal.printJson(event.source)
  let speaking = false
  return (event) => {
    if (event.type === 'token.delta') {
      if (!speaking) terminal.write(timePrefix(terminal, event.ts))
      speaking = true
      return terminal.write(
        terminal.styled('dim', toPrintable(toText(event.data.text)).replaceAll('\n', '\n         ')),
      )
    }
    if (speaking) terminal.write('\n')
    speaking = false
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
  const of = (name: string) => toShortText(data[name])
  switch (type) {
    case 'task.created':
      return toLine('▶', `${of('wedge')}/${of('task_type')} ${describeStart(data)}`, 'bold')
    case 'step.started':
      return toLine('·', `step ${of('step')}: ${of('label')}`, 'dim')
    case 'tool.called':
      return toLine('→', `${of('tool')} ${of('input')}`, 'cyan')
    case 'tool.result':
      return data.ok === true
        ? toLine('←', `${of('tool')} ${of('output')}`)
        : toLine('✗', `${of('tool')}: ${of('error')}`, 'red')
    case 'progress':
      return toLine('·', of('text'))
    case 'approval.requested':
      return toLine(
        '?',
        `${of('action')}${throughConnection(data)} waits for approval ${of('approval_id')} (risk ${of('risk')})`,
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
        ? toLine('✓', 'the output fits its schema', 'dim')
        : toLine('✗', `the output is wrong: ${describeErrors(data.errors)}`, 'red')
    case 'artifact.created':
      return toLine('+', `${of('name')} (${of('size')} bytes), artifact ${of('artifact_id')}`, 'dim')
    case 'cost.charged':
      return toLine('$', `${of('cost_usd')} USD, ${of('total_usd')} in all`, 'dim')
    case 'task.finished':
      return describeEnd(data.status, data.error, data.duration_ms)
    default:
      return toLine('·', `${type} ${toShortText(data)}`, 'dim')
  }
}

const toLine = (mark: string, words: string, style: TextStyle = 'reset'): TimelineLine => ({ mark, text: words, style })

function describeDecision(data: FollowedEvent['data']): string {
  const why = data.policy_reason ? `: ${toShortText(data.policy_reason)}` : data.edited ? ', with changes' : ''
  return `${toShortText(data.action)} ${toText(data.decision).replace('_', '-')}${why}`
}

function describeEnd(status: Json | undefined, error: Json | undefined, ms: Json | undefined): TimelineLine {
  const why = isJsonObject(error) ? `: ${toShortText(error.message, 500)}` : ''
  const good = status === 'succeeded'
  return {
    mark: good ? '■' : '✗',
    text: `${toText(status)} after ${Number(ms) / 1000} s${why}`,
    style: good ? 'green' : 'red',
  }
}

function describeErrors(errors: Json | undefined): string {
  return (Array.isArray(errors) ? errors : [])
    .filter(isJsonObject)
    .map(({ path, message }) => `${toShortText(path)} ${toShortText(message, 500)}`)
    .join('; ')
}

/** What ended in the queue has the event too, as every log begins with it. */
const describeStart = ({ sandbox, model }: JsonObject): string =>
  sandbox === 'none' ? 'ends before it runs' : `runs in ${toShortText(sandbox)} with ${toShortText(model)}`
