import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { isJsonObject, type Json, type JsonObject } from '../../../platform/base/json.ts'
import { errorMessage } from '../../../platform/base/error-message.ts'
import { usageError } from './failure.ts'

/** Reads JSON from a file, from stdin (`-`), or from the value of the option itself. */
export async function readJsonOption(option: string, value: string): Promise<Json> {
  if (value === '-') return parseOptionJson(`${option} -`, await text(process.stdin))
  if (looksLikeJson(value)) return parseOptionJson(option, value)
  return parseOptionJson(`${option} ${value}`, readOptionFile(option, value))
}

export async function readObjectOption(option: string, value: string): Promise<JsonObject> {
  const json = await readJsonOption(option, value)
  if (!isJsonObject(json)) throw usageError(`option ${option} must be a JSON object`)
  return json
}

/** A file name rarely begins with `{`, `[` or `"`, and is rarely a number or `true`. */
const looksLikeJson = (value: string) => /^\s*(?:[[{"]|(?:-?\d[\d.eE+-]*|true|false|null)\s*$)/.test(value)

function readOptionFile(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw usageError(
      `option ${option}: cannot read the file '${file}' (${errorMessage(error)})`,
      'the value must be a file, - for stdin, or JSON',
    )
  }
}

function parseOptionJson(source: string, json: string): Json {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw usageError(`option ${source} is not JSON: ${errorMessage(error)}`)
  }
}
