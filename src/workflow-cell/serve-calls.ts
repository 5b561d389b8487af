import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type { Json } from '../base/json.ts'
import { createLineSplitter } from '../base/lines.ts'
import { MAX_WORKFLOW_RESULT_BYTES, type WorkflowCall, type WorkflowStart } from '../contract/workflow-protocol.ts'

export interface WorkflowCellState {
  output: Writable
  /** The folder for the sources of the workflows; it contains nothing else. */
  folder: string
  /** Seeds `Math.random` with this text. */
  reseed: (text: string) => void
  /** Null until the start line has arrived. */
  nonce: string | null
  current: WorkflowCall | null
}

// Saved before the first workflow is loaded, because a workflow may replace these functions.
const { parse, stringify } = JSON
const MAX_ERROR_CHARS = 1000

/** The first line is the start, every other line is a call. */
export function serveWorkflowCalls(cell: WorkflowCellState, input: Readable): void {
  const splitter = createLineSplitter(Number.POSITIVE_INFINITY, (line) => {
    if (cell.nonce === null) handleStart(cell, parse(line))
    else void handleCall(cell, parse(line))
  })
  input.on('data', (chunk: Buffer) => splitter.push(chunk))
  // An unhandled error fails the call in progress, and the process must not be used again.
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

/** Counts resources that may still run code after a call; internal requests of Node are not among them. */
function countOpenResources(): number {
  return process.getActiveResourcesInfo().filter((kind) => /^(Timeout|Immediate|Worker|MessagePort)$/.test(kind)).length
}

/** Only the first answer to a call is written. */
function writeAnswer(cell: WorkflowCellState, call: WorkflowCall, body: string, spent: boolean): void {
  if (cell.current !== call) return
  cell.current = null
  writeFields(cell, `"id":${call.id},${body},"spent":${spent}`)
}

/** Begins with a newline, to end a line that the workflow may have left unfinished. */
function writeFields({ output, nonce }: WorkflowCellState, fields: string): void {
  output.write(`\n{"nonce":"${nonce}",${fields}}\n`)
}

/** Returns the fields of the answer. Never throws. */
async function runWorkflowFunction({ name, args }: WorkflowCall, folder: string): Promise<string> {
  try {
    const module: { default?: unknown } = await import(pathToFileURL(`${folder}/${name}.mjs`).href)
    const run = module.default
    if (typeof run !== 'function') throw new Error('its file has no default export that is a function')
    const result: Json = await run(args)
    const text: string | undefined = stringify(result)
    if (text === undefined) throw new Error('it returned a value that is not JSON')
    if (Buffer.byteLength(text) > MAX_WORKFLOW_RESULT_BYTES) throw new Error('its result is larger than 128 KB')
    return `"result":${text}`
  } catch (error) {
    return errorFields(error, folder)
  }
}

function errorFields(error: unknown, folder: string): string {
  const message = describeThrown(error).replaceAll(folder, 'workflows').slice(0, MAX_ERROR_CHARS)
  // Converting to bytes and back replaces incomplete characters.
  return `"error":${stringify(Buffer.from(message.replaceAll('\0', '')).toString())}`
}

/** Reading the thrown value may throw itself. */
function describeThrown(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return 'it threw a value that has no text form'
  }
}

function writeFiles(files: Record<string, string>, folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, source] of Object.entries(files)) {
    mkdirSync(dirname(`${folder}/${name}`), { recursive: true })
    writeFileSync(`${folder}/${name}`, source)
  }
}
