import { isJsonObject, type Json, type JsonObject, ownField } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import type { Operation } from './operation.ts'

/**
 * Throws a 400 for arguments in which the server could read another amount than the one that a rule or a person saw: some
 * servers ignore the case of field names, and in a form `line[amount]` is the same field as `amount` inside `line`.
 */
export function refuseAmbiguousFields({ amount, body }: Operation, args: JsonObject): void {
  const bracketed = body === 'form' || body === 'multipart' ? findBracketedField(args) : null
  if (bracketed !== null) throw badRequest(`field '${bracketed}' must not have brackets in its name`)
  for (const path of [amount?.path, amount?.currency_path]) {
    const other = path === undefined ? null : findOtherSpelling(args, path.split('.'))
    if (other !== null) throw badRequest(`field '${other}' differs from '${path}' only in its spelling`)
  }
}

function findBracketedField(value: Json): string | null {
  const entries: [string, Json][] = Array.isArray(value)
    ? value.map((item) => ['', item])
    : isJsonObject(value)
      ? Object.entries(value)
      : []
  for (const [name, inner] of entries) {
    if (/[[\]]/.test(name)) return name
    const found = findBracketedField(inner)
    if (found !== null) return found
  }
  return null
}

/** Ignores case, spaces around a name and forms of a letter such as `ſ`, as some servers do. */
function findOtherSpelling(args: JsonObject, path: string[]): string | null {
  let level: Json | undefined = args
  for (const name of path) {
    if (!isJsonObject(level)) return null
    const other = Object.keys(level).find((key) => key !== name && plain(key) === plain(name))
    if (other !== undefined) return other
    level = ownField(level, name)
  }
  return null
}

const plain = (name: string): string => name.normalize('NFKC').trim().toLowerCase()
