import { type Command, textOption, word } from './command.ts'
import { moment, short, showTable, textOf } from './table.ts'

export const keys: Command = {
  name: 'keys',
  usage: '',
  summary: 'list the keys of the project',
  words: [0, 0],
  async run({ shell: { terminal, service } }) {
    const found = await service.list('/v1/keys', {}, 1000)
    if (terminal.json) for (const key of found) terminal.tell(key)
    else {
      const rows = found.map(({ id, name, role, hint, created_at, last_used_at }) =>
        [id, name, role, hint, moment(created_at), moment(last_used_at)].map((cell) => short(cell, 60)),
      )
      showTable(terminal, ['KEY', 'NAME', 'ROLE', 'HINT', 'CREATED (UTC)', 'LAST USED (UTC)'], rows, 'no keys')
    }
    return 0
  },
}

export const createKey: Command = {
  name: 'keys create',
  usage: 'NAME [--role viewer|operator|admin]',
  summary: 'create a key; it is printed this once',
  options: { role: { type: 'string' } },
  words: [1, 1],
  async run(call) {
    const { terminal, service } = call.shell
    const role = textOption(call, 'role')
    const key = await service.call('POST', '/v1/keys', { name: word(call, 0), ...(role && { role }) })
    if (terminal.json) terminal.tell(key)
    else {
      terminal.say(textOf(key.key))
      terminal.note(`${short(key.id)} (${short(key.role)}), shown this once; use it with --key or SVC_KEY`)
    }
    return 0
  },
}

export const deleteKey: Command = {
  name: 'keys delete',
  usage: 'KEY',
  summary: 'revoke a key at once',
  words: [1, 1],
  async run(call) {
    const { terminal, service } = call.shell
    await service.call('DELETE', `/v1/keys/${encodeURIComponent(word(call, 0))}`)
    if (terminal.json) terminal.tell({ id: word(call, 0), deleted: true })
    else terminal.say(`${word(call, 0)} deleted`)
    return 0
  },
}
