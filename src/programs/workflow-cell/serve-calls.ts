import type { Readable, Writable } from 'node:stream'
import { createLineSplitter } from '../../platform/base/lines.ts'
import {
  MAX_WORKFLOW_RESULT_BYTES,
  type WorkflowCall,
  type WorkflowStart,
} from '../../platform/contract/workflow-protocol.ts'
import { Realm, type RealmAnswer, type RealmSources } from './realm.ts'

export interface WorkflowCellState {
  output: Writable
  /** Null until the start line has arrived. */
  nonce: string | null
  sources: RealmSources
  current: CallInProgress | null
  /** The realm of the next call, which is created while no call waits. */
  next: Realm | null
}

const MAX_ERROR_CHARS = 1000

/** The first line is the start, every other line is a call. */
export function serveWorkflowCalls(cell: WorkflowCellState, input: Readable): void {
  const splitter = createLineSplitter(Number.POSITIVE_INFINITY, (line) => {
    if (cell.nonce === null) handleStart(cell, JSON.parse(line))
    else void handleCall(cell, JSON.parse(line))
  })
  input.on('data', (chunk: Buffer) => splitter.push(chunk))
  // A call that has ended may leave rejected promises, which must not fail the next call.
  process.on('unhandledRejection', (reason, promise) => {
    if (cell.current?.realm.owns(promise)) failCall(cell, cell.current, reason, false)
  })
  // The error may come from code of the process, so the process must not be used again.
  process.on('uncaughtException', (error) => {
    if (!cell.current) process.exit(1)
    failCall(cell, cell.current, error, true)
  })
}

type CallInProgress = { id: number; realm: Realm }

function failCall(cell: WorkflowCellState, { id, realm }: CallInProgress, error: unknown, spent: boolean): void {
  writeAnswer(cell, id, realm.errorAnswer(error), spent)
}

function handleStart(cell: WorkflowCellState, { nonce, files }: WorkflowStart): void {
  cell.nonce = nonce
  for (const [path, source] of Object.entries(files)) cell.sources.files.set(path, source)
  cell.next = new Realm(cell.sources)
  writeFields(cell, '"ready":true')
}

async function handleCall(cell: WorkflowCellState, call: WorkflowCall): Promise<void> {
  const realm = cell.next ?? new Realm(cell.sources)
  cell.next = null
  cell.current = { id: call.id, realm }
  writeAnswer(cell, call.id, await realm.run(call), false)
  setImmediate(() => prepareNextRealm(cell, call.name))
}

/** The workflow that was called last is probably called next. */
function prepareNextRealm(cell: WorkflowCellState, name: string): void {
  if (cell.next || cell.current) return
  cell.next = new Realm(cell.sources)
  void cell.next.prepare(name)
}

/** Only the first answer to a call is written. */
function writeAnswer(cell: WorkflowCellState, id: number, answer: RealmAnswer, spent: boolean): void {
  if (cell.current?.id !== id) return
  cell.current.realm.close()
  cell.current = null
  writeFields(cell, `"id":${id},${answerField(answer)},"spent":${spent}`)
}

/** Begins with a newline, to end a line that the workflow may have left unfinished. */
function writeFields({ output, nonce }: WorkflowCellState, fields: string): void {
  output.write(`\n{"nonce":"${nonce}",${fields}}\n`)
}

function answerField({ kind, text }: RealmAnswer): string {
  if (kind === 'error') return errorField(text)
  return Buffer.byteLength(text) > MAX_WORKFLOW_RESULT_BYTES
    ? errorField('its result is larger than 128 KB')
    : `"result":${text}`
}

const errorField = (message: string): string =>
  `"error":${JSON.stringify(message.slice(0, MAX_ERROR_CHARS).replaceAll('\0', '').toWellFormed())}`
