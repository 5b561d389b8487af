import type { Json } from '../../base/json.ts'
import { toText } from '../shell/format.ts'

export type JsonPath = readonly (string | number)[]

/** JSON that remembers where it was written, so that a mistake can be shown in its line. */
export interface JsonWithLines {
  value: Json
  /** The line of a value, counted from 1; for a path that leads nowhere, that of the nearest value around it. */
  lineOf(path: JsonPath): number
  /** Keys that stand twice in one object; readers take the last and say nothing. */
  duplicateKeys: { key: string; line: number }[]
}

export class JsonSyntaxError extends Error {
  readonly line: number

  constructor(message: string, line: number) {
    super(message)
    this.line = line
  }
}

/** Throws a JsonFault with the line where the text stops being JSON. */
export function parseJsonWithLines(text: string): JsonWithLines {
  const lines = new Map<string, number>()
  const repeated: JsonWithLines['duplicateKeys'] = []
  const reader = new JsonReader(text, (path, line) => lines.set(JSON.stringify(path), line), repeated)
  const value = reader.document()
  return {
    value,
    duplicateKeys: repeated,
    lineOf(path) {
      for (let length = path.length; length > 0; length--) {
        const line = lines.get(JSON.stringify(path.slice(0, length)))
        if (line !== undefined) return line
      }
      return 1
    },
  }
}

const SCALAR = /"(?:[^"\\\n\r]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y
const MAX_DEPTH = 64

class JsonReader {
  #at = 0
  /** Only white space holds line breaks: a string in JSON cannot. */
  #line = 1
  readonly #text: string
  readonly #found: (path: JsonPath, line: number) => void
  readonly #repeated: JsonWithLines['duplicateKeys']

  constructor(text: string, found: (path: JsonPath, line: number) => void, repeated: JsonWithLines['duplicateKeys']) {
    this.#text = text
    this.#found = found
    this.#repeated = repeated
  }

  document(): Json {
    const value = this.#value([])
    if (this.#peek() !== '') throw this.#fault('nothing may follow the value')
    return value
  }

  #value(path: JsonPath): Json {
    if (path.length > MAX_DEPTH) throw this.#fault(`must not nest deeper than ${MAX_DEPTH} levels`)
    const next = this.#peek()
    this.#found(path, this.#line)
    if (next === '{') return this.#object(path)
    return next === '[' ? this.#array(path) : this.#scalar()
  }

  #object(path: JsonPath): Json {
    const fields = new Map<string, Json>()
    this.#at++
    while (this.#peek() !== '}') {
      if (fields.size > 0) this.#expect(',', "a ',' or '}' is missing")
      if (this.#peek() !== '"') throw this.#fault('a key in double quotes must stand here')
      const line = this.#line
      const key = toText(this.#scalar())
      if (fields.has(key)) this.#repeated.push({ key, line })
      this.#expect(':', `a ':' is missing after "${key}"`)
      fields.set(key, this.#value([...path, key]))
      this.#found([...path, key], line)
    }
    this.#at++
    return Object.fromEntries(fields)
  }

  #array(path: JsonPath): Json {
    const items: Json[] = []
    this.#at++
    while (this.#peek() !== ']') {
      if (items.length > 0) this.#expect(',', "a ',' or ']' is missing")
      items.push(this.#value([...path, items.length]))
    }
    this.#at++
    return items
  }

  #scalar(): Json {
    SCALAR.lastIndex = this.#at
    const token = SCALAR.exec(this.#text)?.[0]
    try {
      const value: Json = JSON.parse(token ?? '')
      this.#at += token?.length ?? 0
      return value
    } catch {
      throw this.#fault(this.#at >= this.#text.length ? 'the file ends too early' : 'a JSON value must stand here')
    }
  }

  #expect(character: string, message: string): void {
    if (this.#peek() !== character) throw this.#fault(message)
    this.#at++
  }

  /** The next character that is not white space; empty at the end. */
  #peek(): string {
    for (; /[ \t\r\n]/.test(this.#text[this.#at] ?? ''); this.#at++) if (this.#text[this.#at] === '\n') this.#line++
    return this.#text[this.#at] ?? ''
  }

  #fault(message: string): JsonSyntaxError {
    return new JsonSyntaxError(`malformed json: ${message}`, this.#line)
  }
}
