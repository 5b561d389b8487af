import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { errorMessage } from '../../base/error-message.ts'
import { usageError } from './failure.ts'

/** JSON as a person gives it: a file, `-` for stdin, or the text itself. */
export async function readJsonOption(option: string, given: string): Promise<Json> {
  if (given === '-') return parseOptionJson(`${option} -`, await text(process.stdin))
  if (looksLikeJson(given)) return parseOptionJson(option, given)
  return parseOptionJson(`${option} ${given}`, readOptionFile(option, given))
}

export async function readObjectOption(option: string, given: string): Promise<JsonObject> {
  const value = await readJsonOption(option, given)
  if (!isJsonObject(value)) throw usageError(`${option} must be a JSON object`)
  return value
}

/** No file name begins like an object, a list or a string in JSON, and few people call a file `true`. */
const looksLikeJson = (given: string) => /^\s*(?:[[{"]|(?:-?\d[\d.eE+-]*|true|false|null)\s*$)/.test(given)

function readOptionFile(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw usageError(
      `${option}: cannot read the file '${file}' (${errorMessage(error)})`,
      'give a file, - for stdin, or JSON itself',
    )
  }
}

function parseOptionJson(source: string, json: string): Json {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw usageError(`${source} is not JSON: ${errorMessage(error)}`)
  }
}
