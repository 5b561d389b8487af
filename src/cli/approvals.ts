import type { JsonObject } from '../base/json.ts'
import { type Command, textOption, word } from './command.ts'
import { pathOf } from './decide.ts'
import { changedInEditor, editorIn } from './edit.ts'
import { EXIT, failed, misused } from './failure.ts'
import { givenObject } from './given-json.ts'
import type { Service } from './service.ts'
import { moment, short, showTable } from './table.ts'
import { limitOf } from './tasks.ts'

export const approvals: Command = {
  name: 'approvals',
  usage: '[--status STATUS|all] [--task TASK] [--wedge WEDGE] [--limit N]',
  summary: 'list the approvals that wait (or those of another status)',
  options: {
    status: { type: 'string' },
    task: { type: 'string' },
    wedge: { type: 'string' },
    limit: { type: 'string' },
  },
  words: [0, 0],
  async run(call) {
    const { terminal, service } = call.shell
    const asked = textOption(call, 'status') ?? 'pending'
    const status = asked === 'all' ? undefined : asked
    const query = { status, task_id: textOption(call, 'task'), wedge: textOption(call, 'wedge') }
    const found = await service.list('/v1/approvals', query, limitOf(call))
    if (terminal.json) for (const approval of found) terminal.tell(approval)
    else {
      const rows = found.map(({ approval_id, status, action, connection, connection_id, risk, expires_at, preview }) =>
        [approval_id, status, action, connection ?? connection_id ?? '-', risk, moment(expires_at), preview].map(
          (cell) => short(cell, 60),
        ),
      )
      const heading = ['APPROVAL', 'STATUS', 'ACTION', 'THROUGH', 'RISK', 'EXPIRES (UTC)', 'WOULD SEND']
      showTable(terminal, heading, rows, status === 'pending' ? 'no approvals wait' : 'no approvals')
    }
    return 0
  },
}

export const approve: Command = {
  name: 'approvals approve',
  usage: 'APPROVAL [--edit FILE|-|JSON] [--note TEXT]',
  summary: 'approve, with changed fields laid over the payload if given',
  options: { edit: { type: 'string' }, note: { type: 'string' } },
  words: [1, 1],
  async run(call) {
    const { terminal, service } = call.shell
    const edit = textOption(call, 'edit')
    const note = textOption(call, 'note')
    const edited = edit === undefined ? {} : { edited: await givenObject('--edit', edit) }
    if (edit !== undefined) await editable(service, word(call, 0))
    const answer = await service.call('POST', `${pathOf(word(call, 0))}/approve`, { ...edited, ...(note && { note }) })
    if (terminal.json) terminal.tell(answer)
    else terminal.say(`${word(call, 0)} approved`)
    return 0
  },
}

export const edit: Command = {
  name: 'approvals edit',
  usage: 'APPROVAL [--note TEXT]',
  summary: 'change the payload in your editor ($VISUAL or $EDITOR), then approve it',
  details: 'A file that is saved unchanged, or an editor that fails, decides nothing.',
  options: { note: { type: 'string' } },
  words: [1, 1],
  async run(call) {
    const { service, env, terminal } = call.shell
    const id = word(call, 0)
    const editor = editorIn(env)
    if (!editor)
      throw misused('neither VISUAL nor EDITOR is set', (svc) => `or: ${svc} approvals approve ${id} --edit JSON`)
    const { preview = null } = await editable(service, id)
    const edited = changedInEditor(editor, preview)
    if (!edited)
      throw failed('nothing was changed, so nothing was decided', (svc) => `as it is: ${svc} approvals approve ${id}`)
    const note = textOption(call, 'note')
    const answer = await service.call('POST', `${pathOf(id)}/approve`, { edited, ...(note && { note }) })
    if (terminal.json) terminal.tell(answer)
    else terminal.say(`${id} approved with ${Object.keys(edited).join(', ')} changed`)
    return EXIT.ok
  },
}

/** An edit of a payload that cannot be edited would be passed over, and what was proposed be sent. */
async function editable(service: Service, id: string): Promise<JsonObject> {
  const approval = await service.call('GET', pathOf(id))
  const { status, allowed_decisions: allowed } = approval
  // One that is decided is refused by the service, which says how.
  if (status !== 'pending' || (Array.isArray(allowed) && allowed.includes('edit'))) return approval
  const choices = (svc: string) => `${svc} approvals approve ${id}, or ${svc} approvals reject ${id}`
  throw failed('this payload cannot be edited', choices)
}

export const reject: Command = {
  name: 'approvals reject',
  usage: 'APPROVAL [--reason TEXT]',
  summary: 'reject, which ends the task',
  options: { reason: { type: 'string' } },
  words: [1, 1],
  async run(call) {
    const { terminal, service } = call.shell
    const reason = textOption(call, 'reason')
    const answer = await service.call('POST', `${pathOf(word(call, 0))}/reject`, { ...(reason && { reason }) })
    if (terminal.json) terminal.tell(answer)
    else terminal.say(`${word(call, 0)} rejected`)
    return 0
  },
}
