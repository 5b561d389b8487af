import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, dirname, join } from 'node:path'
import { isJsonObject, type Json, type JsonObject } from '../../../platform/base/json.ts'
import { errorMessage } from '../../../platform/base/error-message.ts'
import { connectionNames, type WedgeManifest } from '../../../platform/contract/wedge/wedge-manifest.ts'
import { type CliCommand, type CommandContext, commandArg } from '../shell/command.ts'
import { EXIT_CODE, CommandFailure, commandFailed, usageError } from '../shell/failure.ts'
import { followTask } from '../tasks/follow-task.ts'
import { toShortText, toText } from '../shell/format.ts'
import { approvalPath, type ServiceClient } from '../shell/service-client.ts'
import { rehearsedOperations } from './rehearsed-operations.ts'
import { REHEARSAL_SECRET, withTemporaryService } from './temporary-service.ts'
import { findWedgeFolder, readWedgeManifest } from './wedge-folders.ts'

export const rehearseWedgeCommand: CliCommand = {
  name: 'wedge rehearse',
  usage: 'WEDGE [TYPE]',
  summary: 'play the rehearsals of a wedge as tests, offline',
  details: `Starts a temporary service and runs each task type that has rehearsals/TYPE.json, or is a workflow with an input.
The input is rehearsals/TYPE.input.json, or {}. rehearsals/TYPE.records.json may contain records to store first, as
{"collection": {"key": value}}. Approvals are given automatically, questions get no answer, and every connection is replaced
by a test server that returns 200 with {}. With --url the tasks run in that service instead.`,
  argCount: [1, 2],
  async run(call) {
    const { context } = call
    const folder = findWedgeFolder(context.env, commandArg(call, 0))
    const manifest = readWedgeManifest(folder)
    const types = listRehearsedTypes(folder, manifest, call.args[1])
    const play = (service: ServiceClient) => rehearseAll(context, service, folder, types)
    const failures = context.isUrlGiven
      ? await play(context.service)
      : await withTemporaryService(context, dirname(folder), (service) =>
          withFakeConnections(service, manifest, folder, play),
        )
    if (!context.terminal.isJson) context.terminal.note(`${types.length - failures} of ${types.length} passed`)
    return failures === 0 ? EXIT_CODE.ok : EXIT_CODE.failed
  },
}

function listRehearsedTypes(folder: string, manifest: WedgeManifest, only: string | undefined): string[] {
  const known = Object.keys(manifest.task_types)
  if (only !== undefined && !known.includes(only))
    throw usageError(`unknown task type '${only}'`, `task types: ${known.join(', ')}`)
  const types = (only === undefined ? known : [only]).filter((type) =>
    existsSync(
      join(
        folder,
        'rehearsals',
        manifest.task_types[type]?.harness.shape === 'workflow' ? `${type}.input.json` : `${type}.json`,
      ),
    ),
  )
  if (types.length === 0)
    throw commandFailed(`the wedge ${basename(folder)} has no rehearsals`, 'create rehearsals/TYPE.json')
  return types
}

async function rehearseAll(
  { terminal }: CommandContext,
  service: ServiceClient,
  folder: string,
  types: string[],
): Promise<number> {
  let failures = 0
  for (const type of types) {
    const { passed, detail, taskId } = await rehearseOne(service, folder, type)
    if (!passed) failures++
    if (terminal.isJson)
      terminal.printJson({ wedge: basename(folder), task_type: type, passed, detail, task_id: taskId })
    else if (passed) terminal.print(`${terminal.styled('green', '✓')} ${type} ${terminal.styled('dim', detail)}`)
    else terminal.print(`${terminal.styled('red', '✗')} ${type}: ${detail}`)
  }
  return failures
}

async function rehearseOne(service: ServiceClient, folder: string, type: string) {
  try {
    await storeRecords(service, folder, type)
    const body: JsonObject = {
      wedge: basename(folder),
      task_type: type,
      input: readRehearsalJson(folder, `${type}.input.json`),
    }
    const taskId = toText((await service.call('POST', '/v1/tasks', body)).id)
    for await (const { type: event, data } of followTask(service, taskId)) {
      if (event === 'approval.requested') await decideForRehearsal(service, data)
    }
    const { status, output, error } = await service.call('GET', `/v1/tasks/${taskId}`)
    const passed = status === 'succeeded'
    return { passed, detail: passed ? toShortText(output) : `${toText(status)}: ${toShortText(error, 500)}`, taskId }
  } catch (error) {
    if (error instanceof CommandFailure && error.exit === EXIT_CODE.failed)
      return { passed: false, detail: errorMessage(error), taskId: null }
    throw error
  }
}

/**
 * Approves an action, and gives no answer to a question, because a rehearsal knows none. Ignores an approval that another
 * user decided first, which can happen with --url.
 */
async function decideForRehearsal(service: ServiceClient, { approval_id, to }: JsonObject): Promise<void> {
  const path = approvalPath(toText(approval_id))
  const isQuestion = to !== undefined
  const body = isQuestion ? { reason: 'no answer in a rehearsal' } : { note: 'approved by a rehearsal' }
  await service.call('POST', `${path}/${isQuestion ? 'reject' : 'approve'}`, body).catch(async (error) => {
    if ((await service.call('GET', path)).status === 'pending') throw error
  })
}

async function storeRecords(service: ServiceClient, folder: string, type: string): Promise<void> {
  const collections = readRehearsalJson(folder, `${type}.records.json`)
  for (const [collection, values] of Object.entries(isJsonObject(collections) ? collections : {})) {
    for (const [key, value] of Object.entries(isJsonObject(values) ? values : {})) {
      await service.call('POST', '/v1/records', { wedge: basename(folder), collection, key, value })
    }
  }
}

function readRehearsalJson(folder: string, name: string): Json {
  const file = join(folder, 'rehearsals', name)
  if (!existsSync(file)) return {}
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw commandFailed(`${file} is not JSON: ${errorMessage(error)}`)
  }
}

/** Points every connection of the wedge to a local test server while the work runs. */
async function withFakeConnections(
  service: ServiceClient,
  manifest: WedgeManifest,
  folder: string,
  work: (service: ServiceClient) => Promise<number>,
) {
  const testServer = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => testServer.listen(0, '127.0.0.1', resolve))
  try {
    const address = testServer.address()
    const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
    const config = { api_url: url, base_url: url, from: 'rehearsal@example.com' }
    const rehearsals = Object.keys(manifest.task_types).map((type) => readRehearsalJson(folder, `${type}.json`))
    for (const name of connectionNames(manifest)) {
      const operations = rehearsedOperations(manifest, name, rehearsals)
      await service.call('POST', '/v1/connections', {
        kind: 'custom',
        name,
        config: operations ? { ...config, operations } : config,
        secret_ref: `env:${REHEARSAL_SECRET}`,
      })
    }
    return await work(service)
  } finally {
    testServer.close()
    testServer.closeAllConnections()
  }
}
