import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type { Json } from '../base/json.ts'
import { createLineSplitter } from '../base/lines.ts'
import { MAX_WORKFLOW_RESULT_BYTES, type WorkflowCall, type WorkflowStart } from '../contract/workflow-protocol.ts'

export interface WorkflowCellState {
  output: Writable
  /** Where the sources go; nothing else is in it. */
  folder: string
  /** Makes chance a function of this text. */
  reseed: (text: string) => void
  /** Known once the start has come. */
  nonce: string | null
  current: WorkflowCall | null
}

// Kept from before the first workflow is loaded, which may change what these names mean.
const { parse, stringify } = JSON
const MAX_ERROR_CHARS = 1000

/** The first line is the start, every other one a call. */
export function serveWorkflowCalls(cell: WorkflowCellState, input: Readable): void {
  const splitter = createLineSplitter(Number.POSITIVE_INFINITY, (line) => {
    if (cell.nonce === null) handleStart(cell, parse(line))
    else void handleCall(cell, parse(line))
  })
  input.on('data', splitter.push)
  // What a workflow started and did not await fails the call that is under way, and nothing can be trusted after it.
  process.on('uncaughtException', (error) => {
    if (!cell.current) process.exit(1)
    writeAnswer(cell, cell.current, errorFields(error, cell.folder), true)
  })
}

function handleStart(cell: WorkflowCellState, { nonce, files }: WorkflowStart): void {
  cell.nonce = nonce
  writeFiles(files, cell.folder)
  writeFields(cell, '"ready":true')
}

async function handleCall(cell: WorkflowCellState, call: WorkflowCall): Promise<void> {
  cell.current = call
  const before = countOpenResources()
  cell.reseed(`${call.name} ${stringify(call.args)}`)
  const body = await runWorkflowFunction(call, cell.folder)
  writeAnswer(cell, call, body, countOpenResources() > before)
}

/** What could go on after a call. Requests of Node's own, such as closing a file that was loaded, are none of it. */
function countOpenResources(): number {
  return process.getActiveResourcesInfo().filter((kind) => /^(Timeout|Immediate|Worker|MessagePort)$/.test(kind)).length
}

/** Only the first answer to a call counts. */
function writeAnswer(cell: WorkflowCellState, call: WorkflowCall, body: string, spent: boolean): void {
  if (cell.current !== call) return
  cell.current = null
  writeFields(cell, `"id":${call.id},${body},"spent":${spent}`)
}

/** The line end before it cuts off whatever a workflow wrote without one. */
function writeFields({ output, nonce }: WorkflowCellState, fields: string): void {
  output.write(`\n{"nonce":"${nonce}",${fields}}\n`)
}

/** The fields of the answer. Never throws, whatever the workflow returns or throws. */
async function runWorkflowFunction({ name, args }: WorkflowCall, folder: string): Promise<string> {
  try {
    const module: { default?: unknown } = await import(pathToFileURL(`${folder}/${name}.mjs`).href)
    const run = module.default
    if (typeof run !== 'function') throw new Error('its file exports no function as default')
    const result: Json = await run(args)
    const text: string | undefined = stringify(result)
    if (text === undefined) throw new Error('it returned nothing that json can carry')
    if (Buffer.byteLength(text) > MAX_WORKFLOW_RESULT_BYTES) throw new Error('its result is larger than 128 KB')
    return `"result":${text}`
  } catch (error) {
    return errorFields(error, folder)
  }
}

function errorFields(error: unknown, folder: string): string {
  const message = describeThrown(error).replaceAll(folder, 'workflows').slice(0, MAX_ERROR_CHARS)
  // Through bytes and back: what is not a whole character does not arrive as one.
  return `"error":${stringify(Buffer.from(message.replaceAll('\0', '')).toString())}`
}

/** A thrown value is the workflow's own: even to look at it may throw. */
function describeThrown(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return 'it threw something that cannot be shown'
  }
}

function writeFiles(files: Record<string, string>, folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, source] of Object.entries(files)) {
    mkdirSync(dirname(`${folder}/${name}`), { recursive: true })
    writeFileSync(`${folder}/${name}`, source)
  }
}
