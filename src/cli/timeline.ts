import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import type { TaskEvent } from './follow.ts'
import { printable, short, textOf, through } from './table.ts'
import type { Style, Terminal } from './terminal.ts'

/** Shows a task's log as it grows: one line per event, and the words of the model as they come. */
export function timeline(terminal: Terminal): (event: TaskEvent) => void {
  if (terminal.json) return (event) => terminal.tell(event.source)
  let speaking = false
  return (event) => {
    if (event.type === 'token.delta') {
      if (!speaking) terminal.write(clock(terminal, event.ts))
      speaking = true
      return terminal.write(terminal.paint('dim', printable(textOf(event.data.text)).replaceAll('\n', '\n         ')))
    }
    if (speaking) terminal.write('\n')
    speaking = false
    const line = lineOf(event)
    if (line) terminal.say(clock(terminal, event.ts) + terminal.paint(line.style, `${line.mark} ${line.text}`))
  }
}

const clock = (terminal: Terminal, ts: string) => `${terminal.paint('dim', ts.slice(11, 19))} `

interface Line {
  mark: string
  text: string
  style: Style
}

function lineOf({ type, data }: TaskEvent): Line | null {
  const of = (name: string) => short(data[name])
  switch (type) {
    case 'task.created':
      return line('▶', `${of('wedge')}/${of('task_type')} ${begun(data)}`, 'bold')
    case 'step.started':
      return line('·', `step ${of('step')}: ${of('label')}`, 'dim')
    case 'tool.called':
      return line('→', `${of('tool')} ${of('input')}`, 'cyan')
    case 'tool.result':
      return data.ok === true
        ? line('←', `${of('tool')} ${of('output')}`)
        : line('✗', `${of('tool')}: ${of('error')}`, 'red')
    case 'progress':
      return line('·', of('text'))
    case 'approval.requested':
      return line(
        '?',
        `${of('action')}${through(data)} waits for approval ${of('approval_id')} (risk ${of('risk')})`,
        'yellow',
      )
    case 'approval.resolved':
      return line(
        data.decision === 'rejected' ? '✗' : '✓',
        resolved(data),
        data.decision === 'rejected' ? 'red' : 'green',
      )
    case 'output.validated':
      return data.ok === true
        ? line('✓', 'the output fits its schema', 'dim')
        : line('✗', `the output is wrong: ${faults(data.errors)}`, 'red')
    case 'artifact.created':
      return line('+', `${of('name')} (${of('size')} bytes), artifact ${of('artifact_id')}`, 'dim')
    case 'cost.charged':
      return line('$', `${of('cost_usd')} USD, ${of('total_usd')} in all`, 'dim')
    case 'task.finished':
      return finished(data.status, data.error, data.duration_ms)
    default:
      return line('·', `${type} ${short(data)}`, 'dim')
  }
}

const line = (mark: string, words: string, style: Style = 'reset'): Line => ({ mark, text: words, style })

function resolved(data: TaskEvent['data']): string {
  const why = data.policy_reason ? `: ${short(data.policy_reason)}` : data.edited ? ', with changes' : ''
  return `${short(data.action)} ${textOf(data.decision).replace('_', '-')}${why}`
}

function finished(status: Json | undefined, error: Json | undefined, ms: Json | undefined): Line {
  const why = isJsonObject(error) ? `: ${short(error.message, 500)}` : ''
  const good = status === 'succeeded'
  return {
    mark: good ? '■' : '✗',
    text: `${textOf(status)} after ${Number(ms) / 1000} s${why}`,
    style: good ? 'green' : 'red',
  }
}

function faults(errors: Json | undefined): string {
  return (Array.isArray(errors) ? errors : [])
    .filter(isJsonObject)
    .map(({ path, message }) => `${short(path)} ${short(message, 500)}`)
    .join('; ')
}

/** What ended in the queue has the event too, as every log begins with it. */
const begun = ({ sandbox, model }: JsonObject): string =>
  sandbox === 'none' ? 'ends before it runs' : `runs in ${short(sandbox)} with ${short(model)}`
