import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../../platform/base/json.ts'
import { errorMessage } from '../../../platform/base/error-message.ts'
import type { CommandContext } from '../shell/command.ts'
import { commandFailed } from '../shell/failure.ts'

/** Asks for the fields to change in a payload. Null if nothing was changed. */
export async function askForEdits(
  context: CommandContext,
  payload: Json,
  signal: AbortSignal,
): Promise<JsonObject | null> {
  const editor = findEditor(context.env)
  if (context.terminal.isInteractive && editor) return editPayload(editor, payload)
  const line = await context.terminal.ask('changed fields as one line of JSON: ', signal)
  return line === null || line.trim() === '' ? null : parseObject(line)
}

export const findEditor = (env: CommandContext['env']): string | undefined => env.VISUAL || env.EDITOR

/** Blocks until the editor is closed. */
export const editPayload = (editor: string, payload: Json): JsonObject | null =>
  changedFields(payload, runEditor(editor, payload))

function runEditor(editor: string, payload: Json): JsonObject {
  const folder = mkdtempSync(join(tmpdir(), 'svc-edit-'))
  try {
    const file = join(folder, 'payload.json')
    writeFileSync(file, `${JSON.stringify(payload, null, 2)}\n`, { mode: 0o600 })
    // The setting may contain arguments, such as `code --wait`.
    const { status, error } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' })
    if (status !== 0) throw commandFailed(`the editor '${editor}' failed: ${error?.message ?? `exit code ${status}`}`)
    return parseObject(readFileSync(file, 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function parseObject(json: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw commandFailed(`the edit is not JSON: ${errorMessage(error)}`)
  }
  if (!isJsonObject(value)) throw commandFailed('the edit must be a JSON object')
  return value
}

/** An edit is merged into the payload, so it can change and add fields but cannot remove them. */
function changedFields(payload: Json, wanted: JsonObject): JsonObject | null {
  const before = isJsonObject(payload) ? payload : {}
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(wanted, key))
  if (removed.length > 0)
    throw commandFailed(`an edit cannot remove '${removed.join("', '")}': set it to null, or keep it`)
  const isSame = (key: string, value: Json) =>
    Object.hasOwn(before, key) && canonicalJson(before[key] ?? null) === canonicalJson(value)
  const changed = Object.entries(wanted).filter(([key, value]) => !isSame(key, value))
  return changed.length > 0 ? Object.fromEntries(changed) : null
}
