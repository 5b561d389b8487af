import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { errorMessage } from '../../base/error-message.ts'
import type { CommandContext } from '../shell/command.ts'
import { commandFailed } from '../shell/failure.ts'

/** The fields that a person wants changed in a payload; null when there are none after all. */
export async function askForEdits(
  shell: CommandContext,
  payload: Json,
  signal: AbortSignal,
): Promise<JsonObject | null> {
  const editor = findEditor(shell.env)
  if (shell.terminal.isInteractive && editor) return editPayload(editor, payload)
  const line = await shell.terminal.ask('the changed fields as one line of JSON: ', signal)
  return line === null || line.trim() === '' ? null : parseObject(line)
}

export const findEditor = (env: CommandContext['env']): string | undefined => env.VISUAL || env.EDITOR

/** Waits until the person has closed the editor. */
export const editPayload = (editor: string, payload: Json): JsonObject | null =>
  changedFields(payload, runEditor(editor, payload))

function runEditor(editor: string, payload: Json): JsonObject {
  const folder = mkdtempSync(join(tmpdir(), 'svc-edit-'))
  try {
    const file = join(folder, 'payload.json')
    writeFileSync(file, `${JSON.stringify(payload, null, 2)}\n`, { mode: 0o600 })
    // An editor may come with arguments, such as `code --wait`.
    const { status, error } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' })
    if (status !== 0)
      throw commandFailed(`the editor '${editor}' failed: ${error?.message ?? `it ended with ${status}`}`)
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
    throw commandFailed(`this is not JSON: ${errorMessage(error)}`)
  }
  if (!isJsonObject(value)) throw commandFailed('the edit must be a JSON object')
  return value
}

/** An edit is laid over the payload, so it can change and add fields but not take them away. */
function changedFields(payload: Json, wanted: JsonObject): JsonObject | null {
  const before = isJsonObject(payload) ? payload : {}
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(wanted, key))
  if (gone.length > 0) throw commandFailed(`an edit cannot remove '${gone.join("', '")}': set it to null, or leave it`)
  const same = (key: string, value: Json) =>
    Object.hasOwn(before, key) && canonicalJson(before[key] ?? null) === canonicalJson(value)
  const changed = Object.entries(wanted).filter(([key, value]) => !same(key, value))
  return changed.length > 0 ? Object.fromEntries(changed) : null
}
