import { writeFileSync } from 'node:fs'
import type { JsonObject } from '../../../platform/base/json.ts'
import { type CliCommand, type CommandCall, commandArg, stringOption } from '../shell/command.ts'
import { EXIT_CODE, commandFailed, usageError } from '../shell/failure.ts'
import { showTable, toShortText, toText } from '../shell/format.ts'
import type { Terminal } from '../shell/terminal.ts'
import { type ImportedAuth, toAuth } from './openapi-auth.ts'
import { ImportProblem, readOpenApiDocument, resolveRef } from './openapi-document.ts'
import { isNamed, type ListedOperation, listOperations, pickOperations, requireOperation } from './openapi-list.ts'
import { baseUrlOf, toOperation } from './openapi-operation.ts'
import { toPlainText } from './openapi-schema.ts'

export const importConnectionCommand: CliCommand = {
  name: 'connection import',
  usage: 'openapi FILE --name NAME --allow OPERATIONS [--reads OPERATIONS]',
  summary: 'create a connection from operations of an OpenAPI document',
  details: `FILE is an OpenAPI 3.0 or 3.1 document on this machine, in JSON or YAML. Lists are separated by commas.
Without --allow and --allow-tag it lists the operations of the document.
  --allow OPERATIONS   the operations to import: names, operation ids or 'METHOD /path'
  --allow-tag TAGS     all operations with one of these tags
  --reads OPERATIONS   imported GET operations that need no approval; every other operation stops at the gate
  --base-url URL       the address of the API, if the document has none or has variables
  --auth SCHEME        the security scheme, if the document has several
  --username NAME      for HTTP Basic; --client-id ID for OAuth 2. The secret is stored afterwards
  --preset-file FILE   write a preset to a file instead of creating the connection`,
  options: {
    name: { type: 'string' },
    allow: { type: 'string' },
    'allow-tag': { type: 'string' },
    reads: { type: 'string' },
    'base-url': { type: 'string' },
    auth: { type: 'string' },
    username: { type: 'string' },
    'client-id': { type: 'string' },
    'preset-file': { type: 'string' },
  },
  argCount: [2, 2],
  async run(call) {
    if (commandArg(call, 0) !== 'openapi') throw usageError(`unknown format '${commandArg(call, 0)}' (use openapi)`)
    const document = await readOpenApiDocument(commandArg(call, 1))
    const all = withProblems('the document', () => listOperations(document))
    const allow = listOption(call, 'allow')
    const tags = listOption(call, 'allow-tag')
    const name = stringOption(call, 'name')
    if (allow.length + tags.length === 0) return showOperations(call.context.terminal, all, name !== undefined)
    if (name === undefined) throw usageError('option --name is required', 'it is the name of the new connection')
    const imported = convertOperations(call, document, all, pickOperations(all, allow, tags))
    const presetFile = stringOption(call, 'preset-file')
    return presetFile === undefined
      ? createConnection(call, name, imported)
      : writePreset(call, name, document, imported, presetFile)
  },
}

const listOption = (call: CommandCall, name: string): string[] =>
  (stringOption(call, name) ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

/** With a name a connection was wanted, so the list alone is an error. */
function showOperations(terminal: Terminal, all: ListedOperation[], isImport: boolean): number {
  if (terminal.isJson)
    for (const { name, operationId, method, path, tags, summary } of all)
      terminal.printJson({ name, operation_id: operationId, method, path, tags, summary })
  else {
    const rows = all.map(({ name, method, path, tags, summary }) =>
      [name, method, path, tags.join(','), summary].map((cell) => toShortText(cell, 60)),
    )
    showTable(terminal, ['NAME', 'METHOD', 'PATH', 'TAGS', 'SUMMARY'], rows, 'the document has no operations')
  }
  if (isImport) throw usageError('nothing was imported: name the operations with --allow or --allow-tag')
  return EXIT_CODE.ok
}

interface ImportedConnection {
  config: JsonObject
  operations: JsonObject[]
  auth: ImportedAuth | null
}

function convertOperations(
  call: CommandCall,
  document: JsonObject,
  all: ListedOperation[],
  picked: ListedOperation[],
): ImportedConnection {
  const reads = listOption(call, 'reads')
  for (const wanted of reads) {
    if (!picked.includes(requireOperation(all, wanted, '--reads')))
      throw usageError(`option --reads: '${wanted}' is not imported`, 'name it with --allow as well')
  }
  const baseUrl = withProblems('the document', () => baseUrlOf(document, stringOption(call, 'base-url')), BASE_URL_HINT)
  const operations = picked.map((listed) => {
    const isRead = reads.some((wanted) => isNamed(listed, wanted))
    const convert = () => toOperation(document, requireSameServer(listed), isRead)
    const { operation, notes } = withProblems(`operation '${listed.name}'`, convert)
    for (const note of notes) call.context.terminal.note(`${listed.name}: ${note}`)
    return operation
  })
  const options = {
    scheme: stringOption(call, 'auth'),
    username: stringOption(call, 'username'),
    clientId: stringOption(call, 'client-id'),
  }
  const auth = withProblems('the document', () => toAuth(document, picked, options))
  return { config: { base_url: baseUrl, ...(auth && { auth: auth.auth }), operations }, operations, auth }
}

const BASE_URL_HINT = 'give the address of the API with --base-url'

/** The connection has one address, so an operation with its own server would be sent to the wrong one. */
function requireSameServer(listed: ListedOperation): ListedOperation {
  if (listed.spec.servers !== undefined || listed.shared.servers !== undefined)
    throw new ImportProblem('it has its own server: import it into a connection of its own, with --base-url')
  return listed
}

function withProblems<T>(what: string, work: () => T, advice?: string): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ImportProblem)) throw error
    throw commandFailed(`${what} cannot be imported: ${error.message}`, advice)
  }
}

async function createConnection(call: CommandCall, name: string, imported: ImportedConnection): Promise<number> {
  const { terminal, service } = call.context
  const body = { kind: 'custom', name, config: imported.config }
  const connection = await service.call('POST', '/v1/connections', body)
  if (terminal.isJson) terminal.printJson(connection)
  else {
    terminal.print(`${toText(connection.id)} created: connection '${name}'`)
    showImported(terminal, name, imported.operations)
    if (imported.auth)
      terminal.note(
        `store its secret (${imported.auth.secret}, scheme '${imported.auth.scheme}') in the console or with POST /v1/connections/${toText(connection.id)}/secret`,
      )
  }
  return EXIT_CODE.ok
}

function showImported(terminal: Terminal, name: string, operations: JsonObject[]): void {
  const rows = operations.map((one) => [
    `${name}:${toText(one.name)}`,
    one.read === true ? 'read' : 'needs approval',
    `${toText(one.method)} ${toText(one.path)}`,
  ])
  showTable(terminal, ['CAPABILITY', 'CLASS', 'REQUEST'], rows, 'no operations')
}

function writePreset(
  call: CommandCall,
  name: string,
  document: JsonObject,
  { config, auth }: ImportedConnection,
  file: string,
): number {
  const { title = name, description = title } = resolveRef(document, document.info)
  const { url: docs = config.base_url ?? null } = resolveRef(document, document.externalDocs)
  const preset = {
    preset: name,
    title: toText(title),
    description: toPlainText(description, 200),
    kind: 'custom',
    docs,
    secret: { label: auth?.secret ?? 'none', where: `See ${toText(docs)}.` },
    params: [],
    config,
  }
  writeFileSync(file, `${JSON.stringify(preset, null, 2)}\n`)
  if (call.context.terminal.isJson) call.context.terminal.printJson({ preset: name, file })
  else call.context.terminal.print(`${file} written`)
  return EXIT_CODE.ok
}
