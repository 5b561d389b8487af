import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, dirname, join } from 'node:path'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { messageOf } from '../base/message-of.ts'
import { Manifest } from '../base/wedge.ts'
import { quoted } from './called-as.ts'
import { type Command, type Shell, word } from './command.ts'
import { pathOf } from './decide.ts'
import { EXIT, Failure, failed, misused } from './failure.ts'
import { follow } from './follow.ts'
import { short, textOf } from './table.ts'
import type { Service } from './service.ts'
import { REHEARSAL_SECRET, withTemporaryService } from './temporary-service.ts'
import { wedgeFolder } from './wedge-folders.ts'

export const rehearse: Command = {
  name: 'wedge rehearse',
  usage: 'WEDGE [TYPE]',
  summary: "play a wedge's rehearsals as tests, offline",
  details: `Starts a service of its own in a temporary folder and runs each task type that has rehearsals/TYPE.json (or is a
workflow with an input) with the input in rehearsals/TYPE.input.json, or {}. rehearsals/TYPE.records.json may hold what
is in the record store before, as {"collection": {"key": value}}. Approvals are given by themselves, and every connection
leads to a place that answers 200 with {}. With --url the tasks run in that service instead.`,
  words: [1, 2],
  async run(call) {
    const { shell } = call
    const folder = wedgeFolder(shell.env, word(call, 0))
    const manifest = manifestOf(folder)
    const types = typesToPlay(folder, manifest, call.words[1])
    const play = (service: Service) => playAll(shell, service, folder, types)
    const failures = shell.urlGiven
      ? await play(shell.service)
      : await withTemporaryService(shell, dirname(folder), (service) => withOutside(service, manifest, play))
    if (!shell.terminal.json) shell.terminal.note(`${types.length - failures} of ${types.length} passed`)
    return failures === 0 ? EXIT.ok : EXIT.failed
  },
}

function manifestOf(folder: string): Manifest {
  try {
    return Manifest.parse(JSON.parse(readFileSync(join(folder, 'wedge.json'), 'utf8')))
  } catch {
    throw failed(
      `${folder} is not a wedge that can run`,
      (svc) => `see what is wrong with: ${svc} wedge check ${quoted(folder)}`,
    )
  }
}

function typesToPlay(folder: string, manifest: Manifest, only: string | undefined): string[] {
  const known = Object.keys(manifest.task_types)
  if (only !== undefined && !known.includes(only)) throw misused(`'${only}' is not one of ${known.join(', ')}`)
  const types = (only === undefined ? known : [only]).filter((type) =>
    existsSync(
      join(
        folder,
        'rehearsals',
        manifest.task_types[type]?.harness.shape === 'workflow' ? `${type}.input.json` : `${type}.json`,
      ),
    ),
  )
  if (types.length === 0) throw failed(`${basename(folder)} has no rehearsal to play`, 'write rehearsals/TYPE.json')
  return types
}

async function playAll({ terminal }: Shell, service: Service, folder: string, types: string[]): Promise<number> {
  let failures = 0
  for (const type of types) {
    const { passed, detail, taskId } = await playOne(service, folder, type)
    if (!passed) failures++
    if (terminal.json) terminal.tell({ wedge: basename(folder), task_type: type, passed, detail, task_id: taskId })
    else if (passed) terminal.say(`${terminal.paint('green', '✓')} ${type} ${terminal.paint('dim', detail)}`)
    else terminal.say(`${terminal.paint('red', '✗')} ${type}: ${detail}`)
  }
  return failures
}

async function playOne(service: Service, folder: string, type: string) {
  try {
    await putRecords(service, folder, type)
    const body: JsonObject = {
      wedge: basename(folder),
      task_type: type,
      input: jsonBeside(folder, `${type}.input.json`),
    }
    const taskId = textOf((await service.call('POST', '/v1/tasks', body)).id)
    for await (const { type: event, data } of follow(service, taskId)) {
      if (event === 'approval.requested') await approve(service, textOf(data.approval_id))
    }
    const { status, output, error } = await service.call('GET', `/v1/tasks/${taskId}`)
    const passed = status === 'succeeded'
    return { passed, detail: passed ? short(output) : `${textOf(status)}: ${short(error, 500)}`, taskId }
  } catch (error) {
    if (error instanceof Failure && error.exit === EXIT.failed)
      return { passed: false, detail: messageOf(error), taskId: null }
    throw error
  }
}

/** One that somebody else has decided, in a service that is not ours alone, is as good. */
async function approve(service: Service, approvalId: string): Promise<void> {
  await service
    .call('POST', `${pathOf(approvalId)}/approve`, { note: 'approved by a rehearsal' })
    .catch(async (error) => {
      if ((await service.call('GET', pathOf(approvalId))).status === 'pending') throw error
    })
}

async function putRecords(service: Service, folder: string, type: string): Promise<void> {
  const collections = jsonBeside(folder, `${type}.records.json`)
  for (const [collection, values] of Object.entries(isJsonObject(collections) ? collections : {})) {
    for (const [key, value] of Object.entries(isJsonObject(values) ? values : {})) {
      await service.call('POST', '/v1/records', { wedge: basename(folder), collection, key, value })
    }
  }
}

function jsonBeside(folder: string, name: string): Json {
  const file = join(folder, 'rehearsals', name)
  if (!existsSync(file)) return {}
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw failed(`${file} is not JSON: ${messageOf(error)}`)
  }
}

/** Gives every connection of the wedge somewhere to lead to, for as long as the work takes. */
async function withOutside(service: Service, manifest: Manifest, work: (service: Service) => Promise<number>) {
  const outside = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve))
  try {
    const address = outside.address()
    const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
    const config = { api_url: url, base_url: url, from: 'rehearsal@example.com' }
    for (const name of manifest.connections) {
      await service.call('POST', '/v1/connections', {
        kind: 'custom',
        name,
        config,
        secret_ref: `env:${REHEARSAL_SECRET}`,
      })
    }
    return await work(service)
  } finally {
    outside.close()
    outside.closeAllConnections()
  }
}
