import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canonical, isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { messageOf } from '../base/message-of.ts'
import type { Shell } from './command.ts'
import { failed } from './failure.ts'

/** The fields that a person wants changed in a payload; null when there are none after all. */
export async function editedFields(shell: Shell, payload: Json, signal: AbortSignal): Promise<JsonObject | null> {
  const editor = editorIn(shell.env)
  if (shell.terminal.person && editor) return changedInEditor(editor, payload)
  const line = await shell.terminal.ask('the changed fields as one line of JSON: ', signal)
  return line === null || line.trim() === '' ? null : objectIn(line)
}

export const editorIn = (env: Shell['env']): string | undefined => env.VISUAL || env.EDITOR

/** Waits until the person has closed the editor. */
export const changedInEditor = (editor: string, payload: Json): JsonObject | null =>
  changes(payload, inEditor(editor, payload))

function inEditor(editor: string, payload: Json): JsonObject {
  const folder = mkdtempSync(join(tmpdir(), 'svc-edit-'))
  try {
    const file = join(folder, 'payload.json')
    writeFileSync(file, `${JSON.stringify(payload, null, 2)}\n`, { mode: 0o600 })
    // An editor may come with arguments, such as `code --wait`.
    const { status, error } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' })
    if (status !== 0) throw failed(`the editor '${editor}' failed: ${error?.message ?? `it ended with ${status}`}`)
    return objectIn(readFileSync(file, 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function objectIn(json: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw failed(`this is not JSON: ${messageOf(error)}`)
  }
  if (!isJsonObject(value)) throw failed('the edit must be a JSON object')
  return value
}

/** An edit is laid over the payload, so it can change and add fields but not take them away. */
function changes(payload: Json, wanted: JsonObject): JsonObject | null {
  const before = isJsonObject(payload) ? payload : {}
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(wanted, key))
  if (gone.length > 0) throw failed(`an edit cannot remove '${gone.join("', '")}': set it to null, or leave it`)
  const same = (key: string, value: Json) =>
    Object.hasOwn(before, key) && canonical(before[key] ?? null) === canonical(value)
  const changed = Object.entries(wanted).filter(([key, value]) => !same(key, value))
  return changed.length > 0 ? Object.fromEntries(changed) : null
}
