import { createReadStream, createWriteStream, statSync } from 'node:fs'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { errorMessage } from '../../../platform/base/error-message.ts'
import { type CliCommand, commandArg, stringOption } from '../shell/command.ts'
import { commandFailed, EXIT_CODE } from '../shell/failure.ts'
import { formatTime, showTable, toShortText } from '../shell/format.ts'
import { limitOption } from '../tasks/list-command.ts'

export const listFilesCommand: CliCommand = {
  name: 'files',
  usage: '[--client CLIENT] [--limit N]',
  summary: 'list files, newest first',
  options: { client: { type: 'string' }, limit: { type: 'string' } },
  argCount: [0, 0],
  async run(call) {
    const { terminal, service } = call.context
    const files = await service.list('/v1/files', { client_id: stringOption(call, 'client') }, limitOption(call))
    if (terminal.isJson) for (const file of files) terminal.printJson(file)
    else {
      const rows = files.map(({ id, name, content_type, size, created_at }) =>
        [id, name, content_type, size, formatTime(created_at)].map((cell) => toShortText(cell, 60)),
      )
      showTable(terminal, ['FILE', 'NAME', 'TYPE', 'BYTES', 'CREATED (UTC)'], rows, 'no files')
    }
    return EXIT_CODE.ok
  },
}

export const uploadFileCommand: CliCommand = {
  name: 'files upload',
  usage: 'PATH [--name NAME]',
  summary: 'upload a file and print its id',
  options: { name: { type: 'string' } },
  argCount: [1, 1],
  async run(call) {
    const { terminal, service } = call.context
    const path = commandArg(call, 0)
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw commandFailed(`'${path}' is not a file`)
    const name = stringOption(call, 'name') ?? basename(path)
    const query = new URLSearchParams({ name }).toString()
    const file = await service.upload(`/v1/files?${query}`, Readable.toWeb(createReadStream(path)))
    if (terminal.isJson) terminal.printJson(file)
    else terminal.print(toShortText(file.id))
    return EXIT_CODE.ok
  },
}

export const downloadFileCommand: CliCommand = {
  name: 'files download',
  usage: 'FILE TO',
  summary: 'write the bytes of a file to a new file, or with - to stdout',
  argCount: [2, 2],
  async run(call) {
    const { service } = call.context
    const to = commandArg(call, 1)
    const response = await service.open(`/v1/files/${encodeURIComponent(commandArg(call, 0))}`)
    // An existing file is kept: a mistyped name must not replace it.
    const target = to === '-' ? process.stdout : createWriteStream(to, { flags: 'wx' })
    await pipeline(response.body ?? [], target, { end: to !== '-' }).catch((error: unknown) => {
      throw commandFailed(`cannot write '${to}': ${errorMessage(error)}`)
    })
    return EXIT_CODE.ok
  },
}

export const deleteFileCommand: CliCommand = {
  name: 'files delete',
  usage: 'FILE',
  summary: 'delete a file; tasks and messages no longer show it',
  argCount: [1, 1],
  async run(call) {
    const { terminal, service } = call.context
    await service.call('DELETE', `/v1/files/${encodeURIComponent(commandArg(call, 0))}`)
    if (terminal.isJson) terminal.printJson({ id: commandArg(call, 0), deleted: true })
    else terminal.print(`${commandArg(call, 0)} deleted`)
    return EXIT_CODE.ok
  },
}
