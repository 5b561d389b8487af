import { type CliCommand, stringOption, commandArg } from '../shell/command.ts'
import { EXIT_CODE } from '../shell/failure.ts'
import { formatTime, toShortText, showTable, toText } from '../shell/format.ts'

export const listKeysCommand: CliCommand = {
  name: 'keys',
  usage: '',
  summary: 'list the API keys of the project',
  argCount: [0, 0],
  async run({ context: { terminal, service } }) {
    const keys = await service.list('/v1/keys', {}, 1000)
    if (terminal.isJson) for (const key of keys) terminal.printJson(key)
    else {
      const rows = keys.map(({ id, name, role, hint, created_at, last_used_at }) =>
        [id, name, role, hint, formatTime(created_at), formatTime(last_used_at)].map((cell) => toShortText(cell, 60)),
      )
      showTable(terminal, ['KEY', 'NAME', 'ROLE', 'HINT', 'CREATED (UTC)', 'LAST USED (UTC)'], rows, 'no keys')
    }
    return EXIT_CODE.ok
  },
}

export const createKeyCommand: CliCommand = {
  name: 'keys create',
  usage: 'NAME [--role viewer|operator|admin]',
  summary: 'create an API key and print it; it is shown only once',
  options: { role: { type: 'string' } },
  argCount: [1, 1],
  async run(call) {
    const { terminal, service } = call.context
    const role = stringOption(call, 'role')
    const key = await service.call('POST', '/v1/keys', { name: commandArg(call, 0), ...(role && { role }) })
    if (terminal.isJson) terminal.printJson(key)
    else {
      terminal.print(toText(key.key))
      terminal.note(`${toShortText(key.id)} (${toShortText(key.role)}), shown only once; use it with SVC_KEY or --key`)
    }
    return EXIT_CODE.ok
  },
}

export const deleteKeyCommand: CliCommand = {
  name: 'keys delete',
  usage: 'KEY',
  summary: 'revoke an API key immediately',
  argCount: [1, 1],
  async run(call) {
    const { terminal, service } = call.context
    await service.call('DELETE', `/v1/keys/${encodeURIComponent(commandArg(call, 0))}`)
    if (terminal.isJson) terminal.printJson({ id: commandArg(call, 0), deleted: true })
    else terminal.print(`${commandArg(call, 0)} deleted`)
    return EXIT_CODE.ok
  },
}
