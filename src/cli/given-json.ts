import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { messageOf } from '../base/message-of.ts'
import { misused } from './failure.ts'

/** JSON as a person gives it: a file, `-` for stdin, or the text itself. */
export async function givenJson(option: string, given: string): Promise<Json> {
  if (given === '-') return parsed(`${option} -`, await text(process.stdin))
  if (looksLikeJson(given)) return parsed(option, given)
  return parsed(`${option} ${given}`, fileText(option, given))
}

export async function givenObject(option: string, given: string): Promise<JsonObject> {
  const value = await givenJson(option, given)
  if (!isJsonObject(value)) throw misused(`${option} must be a JSON object`)
  return value
}

/** No file name begins like an object, a list or a string in JSON, and few people call a file `true`. */
const looksLikeJson = (given: string) => /^\s*(?:[[{"]|(?:-?\d[\d.eE+-]*|true|false|null)\s*$)/.test(given)

function fileText(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw misused(
      `${option}: cannot read the file '${file}' (${messageOf(error)})`,
      'give a file, - for stdin, or JSON itself',
    )
  }
}

function parsed(source: string, json: string): Json {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw misused(`${source} is not JSON: ${messageOf(error)}`)
  }
}
